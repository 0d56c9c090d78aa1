import type { StatusDocument, StatusGateway } from '../status-document.js';
import { type CardContent, contentsOf } from './health-cards.js';

const gateway: StatusGateway = {
  host: 'bank.example',
  merchants: 1,
  health: 'answering',
  attempts: 15,
  failed: 0,
  refused: 0,
};
const document: StatusDocument = {
  at: 0,
  replica: {
    name: 'broker-0',
    version: '0.1.0',
    startedAt: 0,
    ready: true,
    storeReached: true,
    shuttingDown: false,
    watchers: 0,
    viewers: 1,
    residentBytes: 1,
    eventLoopLagMs: { latest: 0, worst: 0 },
  },
  store: { type: 'redis', condition: 'answers' },
  gateways: [],
  furtherGateways: 0,
  counts: { unavailable: 0, foreign_authorizer: 0, dead: 0, stale: 0, failing: 0, fresh: 1 },
  matching: 1,
  merchants: [],
};

function card(changed: Partial<StatusGateway>): CardContent | undefined {
  const contents = contentsOf({ ...document, gateways: [{ ...gateway, ...changed }] }, 60_000);
  return contents.find(({ kind }) => kind === 'Gateway');
}

describe('the card of a gateway', () => {
  it('says that it refuses, and how many calls, in place of "Failed 0 of 15 calls"', () => {
    const lastFailure = { at: 55_000, kind: 'refused', code: 'b_merchant_not_found' };
    expect(card({ health: 'refusing', refused: 15, lastAnswerAt: 55_000, lastFailure })).toMatchObject({
      condition: 'unavailable',
      state: 'Answered, refuses',
      facts: [
        ['Merchants', '1'],
        ['Last call', 'refused, 5 s ago'],
        ['Refused', '15 of 15 calls'],
        ['Last failure', 'b_merchant_not_found, 5 s ago'],
      ],
    });
  });

  it('says of one whose certificate is not trusted that no call was made, by its own word and not by the kind of failure', () => {
    const lastFailure = { at: 55_000, kind: 'refused', code: 'SELF_SIGNED_CERT_IN_CHAIN' };
    expect(card({ health: 'untrusted', failed: 15, lastFailure })).toMatchObject({
      condition: 'unavailable',
      state: 'Not trusted',
      facts: [
        ['Merchants', '1'],
        ['Last call', 'failed, 5 s ago'],
        ['Failed', '15 of 15 calls'],
        ['Last failure', 'SELF_SIGNED_CERT_IN_CHAIN, 5 s ago'],
      ],
    });
  });

  it('counts refusals and failures apart where there were both', () => {
    expect(card({ health: 'refusing', refused: 9, failed: 2 })).toMatchObject({
      condition: 'failing',
      facts: [
        ['Merchants', '1'],
        ['Refused', '9 of 15 calls'],
        ['Failed', '2 of 15 calls'],
      ],
    });
  });

  it('says of one that was mended how its last call ended, and since when it answers, before what failed', () => {
    const lastFailure = { at: 20_000, kind: 'transient', code: 'b_server_is_overloaded' };
    const mended = { failed: 14, lastFailure, lastAnswerAt: 58_000, answersSince: 30_000 };
    expect(card({ health: 'degraded', ...mended })).toMatchObject({
      condition: 'failing',
      state: 'Answered again',
      facts: [
        ['Merchants', '1'],
        ['Last call', 'answered, 2 s ago'],
        ['Answering for', '30 s'],
        ['Failed before', '14 of 15 calls'],
        ['Last failure', 'b_server_is_overloaded, 40 s ago'],
      ],
    });
    expect(card({ health: 'answering', ...mended })).toMatchObject({ condition: 'fresh', state: 'Answered' });
    expect(card({ health: 'degraded', failed: 1, lastFailure })?.state).toBe('Some calls failed');
  });

  it('says of one that failed here and has answered another replica since that it answers again', () => {
    const lastFailure = { at: 20_000, kind: 'timeout' };
    const others = { failed: 15, lastFailure, answersSince: 50_000, answeredOthersAt: 50_000 };
    expect(card({ health: 'degraded', ...others })).toMatchObject({
      condition: 'failing',
      state: 'Answered again',
      facts: [
        ['Merchants', '1'],
        ['Last call', 'failed, 40 s ago'],
        ['Other replicas', 'answered, 10 s ago'],
        ['Answering for', '10 s'],
        ['Failed before', '15 of 15 calls'],
        ['Last failure', 'timeout, 40 s ago'],
      ],
    });
  });

  it('says what other replicas have met that this one has not, by their failures that still stand', () => {
    const othersFailure = { at: 20_000, kind: 'refused', code: 'b_merchant_not_found' };
    const shown = (changed: Partial<StatusGateway>) =>
      card(changed)?.facts.find(([name]) => name === 'Other replicas')?.[1];
    expect(shown({ othersFailure, answeredOthersAt: 50_000 })).toBe('refused (b_merchant_not_found), 40 s ago');
    expect(shown({ othersFailure: { at: 59_000, kind: 'failed' } })).toBe('failed, just now');
    expect(shown({})).toBeUndefined();
  });

  it('says beside an amber mark what it is for', () => {
    expect(card({ skewMs: -2_500 })).toMatchObject({ condition: 'failing', state: 'Answered, its clock is off' });
    const replica = { ...document.replica, eventLoopLagMs: { latest: 0, worst: 350 } };
    expect(contentsOf({ ...document, replica }, 0).at(-1)).toMatchObject({
      condition: 'failing',
      state: 'Ready, but its event loop was late',
    });
    expect(contentsOf(document, 0).at(-1)).toMatchObject({ condition: 'fresh', state: 'Ready' });
  });

  it('says of one that is well that nothing failed, and nothing of calls where none was made', () => {
    expect(card({})?.facts).toContainEqual(['Failed', '0 of 15 calls']);
    expect(card({ attempts: 1 })?.facts).toContainEqual(['Failed', '0 of 1 call']);
    expect(card({ health: 'unknown', attempts: 0 })?.facts).toEqual([['Merchants', '1']]);
  });
});

describe('the card of the store', () => {
  it('says for how long it has answered, and nothing that reads like the uptime of Redis', () => {
    const shown = (condition: 'answers' | 'silent') =>
      contentsOf({ ...document, store: { type: 'redis', condition, since: 51_000 } }, 60_000)[0]?.facts[0];
    expect(shown('answers')).toEqual(['Answering for', '9 s']);
    expect(shown('silent')).toEqual(['Down for', '9 s']);
  });
});
