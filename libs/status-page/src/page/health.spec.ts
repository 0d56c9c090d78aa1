import type { StatusDocument, StatusGateway } from '../status-document.js';
import { type CardContent, configurationNotice, contentsOf } from './health.js';

const gateway: StatusGateway = {
  host: 'bank.example',
  merchants: 15,
  health: 'answering',
  failing: 0,
  lastAnswerAt: 55_000,
};
const document: StatusDocument = {
  at: 60_000,
  replica: { name: 'broker-0', version: '0.1.0', startedAt: 0, ready: true, storeReached: true, shuttingDown: false },
  store: { type: 'redis', condition: 'answers', since: 51_000 },
  gateways: [],
  counts: {} as StatusDocument['counts'],
  matching: 0,
  merchants: [],
};
const card = (kind: string, changed: Partial<StatusDocument>): CardContent | undefined => {
  const found = contentsOf({ ...document, ...changed }).find((one) => one.kind === kind);
  return found && { ...found, facts: found.facts.filter(([, value]) => value !== undefined) };
};
const ofGateway = (changed: Partial<StatusGateway>) => card('Gateway', { gateways: [{ ...gateway, ...changed }] });
const ofReplica = (changed: Partial<StatusDocument['replica']>) =>
  card('This replica', { replica: { ...document.replica, ...changed } });

describe('the card of a gateway', () => {
  it('says how it answers, for how many of its merchants it does not, and what failed last', () => {
    const lastFailure = { at: 55_000, kind: 'refused', code: 'b_merchant_not_found' };
    expect(ofGateway({ health: 'refusing', failing: 3, lastFailure, skewMs: 289 })).toMatchObject({
      condition: 'failing',
      state: 'Answered, refuses',
      facts: [
        ['Merchants', '15, 3 failing'],
        ['Last answer', '00:00:55 UTC'],
        ['Last failure', 'b_merchant_not_found, 00:00:55 UTC'],
        ['Clock', 'gateway 0.3 s ahead'],
      ],
    });
    expect(ofGateway({})).toMatchObject({ condition: 'fresh', state: 'Answered' });
    expect(ofGateway({ health: 'untrusted' })).toMatchObject({ condition: 'unavailable', state: 'Not trusted' });
  });
});

describe('the card of the replica', () => {
  it('says whether it is ready, and if not, what is missing', () => {
    expect(ofReplica({})).toMatchObject({ condition: 'fresh', state: 'Ready', facts: [['Up since', '00:00:00 UTC']] });
    expect(ofReplica({ ready: false })?.state).toBe('Not ready: a required merchant has no session');
    expect(ofReplica({ ready: false, storeReached: false })?.state).toBe('Not ready: the store has not answered yet');
    expect(ofReplica({ shuttingDown: true })).toMatchObject({ condition: 'unavailable', state: 'Shutting down' });
  });
});

describe('the notice of the configuration', () => {
  const now = 90_000;
  const refusedChange = { since: 1_000, faults: 1, text: '1 fault: http.tls.certFile' };
  const canWait = { text: 'nothing to do tonight: restart in office hours', runbook: 'config-reload-failed' };
  const cure = { text: 'the new settings may be what is missing: restart one replica', runbook: 'store-down' };

  it('says since when a change is refused, how many faults it has, which is the first, and where to go on', () => {
    expect(configurationNotice({ refusedChange }, now)).toEqual({
      text: 'Configuration: a change has been refused since 00:00:01 UTC (1 fault: http.tls.certFile); the previous configuration is in force.',
      runbook: 'config-reload-failed',
    });
  });

  it('names what takes effect with the next start, with what the replica says is to be done about it', () => {
    const waiting = { awaitingRestart: ['http.port', 'store'], awaitingSince: 1_000 };
    expect(configurationNotice({ ...waiting, restartAdvice: canWait }, now)).toEqual({
      text: 'Configuration: changed at 00:00:01 UTC, to take effect with the next start: http.port, store. Nothing to do tonight: restart in office hours.',
      runbook: 'config-reload-failed',
    });
  });

  it('leads to what is refused before that restart, since a replica would not start with it', () => {
    const notice = configurationNotice({ refusedChange, awaitingRestart: ['store'], restartAdvice: cure }, now);
    expect(notice?.text).toMatch(/ is in force\.\nConfiguration: changed, /);
    expect(notice?.runbook).toBe('config-reload-failed');
  });
});
