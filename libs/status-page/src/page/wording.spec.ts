import type {
  StatusCause,
  StatusCondition,
  StatusCounts,
  StatusDocument,
  StatusGateway,
  StatusMerchant,
} from '../status-document.js';
import { type Headline, headlineOf } from './headline.js';
import { type CardContent, configurationNotice, contentsOf } from './health.js';
import { durationText, leftText, outlookText, timeText } from './wording.js';

const none: StatusCounts = { unavailable: 0, foreign_authorizer: 0, dead: 0, stale: 0, failing: 0, fresh: 0 };

const merchant: StatusMerchant = {
  id: 'shop',
  required: true,
  environment: 'production',
  condition: 'fresh',
  reason: 'current',
  session: { generation: 1, createdAt: 0, renewAt: 800_000, mustRenewAt: 950_000, expiresAt: 1_000_000 },
  renewing: false,
  renewalBlocked: false,
};

describe('the words of the page', () => {
  it.each([
    [59_999, '59 s'],
    [692_000, '11 min 32 s'],
    [90_061_000, '1 d 1 h'],
  ])('say of %d ms left %s', (ms, text) => {
    expect(durationText(ms)).toBe(text);
  });

  const failure = { at: 0, kind: 'transient' };

  it('say what is left of a session', () => {
    const { session: _session, ...none } = merchant;
    expect(leftText(merchant, 0)).toBe('16 min 40 s left');
    expect(leftText(merchant, 1_005_000)).toBe('expired 5 s ago');
    expect(leftText(none, 0)).toBe('nothing to serve');
  });

  it.each<[string, Partial<StatusMerchant>, number]>([
    ['renews in 13 min 20 s', {}, 0],
    ['creating the next session', { renewing: true }, 800_000],
    ['next attempt in 5 min 0 s', { condition: 'unavailable', retryAt: 1_400_000 }, 1_100_000],
    ['nothing is renewed', { renewalBlocked: true, retryAt: 900_000 }, 0],
    ['next attempt after its end, in 50 min 0 s', { condition: 'failing', retryAt: 3_800_000 }, 800_000],
    ['next attempt is due', { condition: 'failing', retryAt: 700_000, failure }, 800_000],
    ['next attempt is due', { condition: 'dead', failure }, 0],
  ])('say what comes next: %s', (text, facts, now) => {
    expect(outlookText({ ...merchant, ...facts }, now)).toBe(text);
  });

  it('says a time of day with its zone, and the day only where it is not today', () => {
    const now = Date.parse('2026-11-22T18:00:00Z');
    expect(timeText(Date.parse('2026-11-22T06:08:30.999Z'), now)).toBe('06:08:30 UTC');
    expect(timeText(Date.parse('2026-11-21T23:59:59Z'), now)).toBe('2026-11-21 23:59:59 UTC');
  });
});

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
  counts: none,
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

const silent: StatusCause = { text: 'The store does not answer', remedy: 'see Redis', runbook: 'store-down' };
const refused = (does: string): StatusCause => ({
  text: `${does}: the bank refuses: b_merchant_not_found`,
  remedy: 'ask the bank',
  runbook: 'access-refused',
});

const bad = (id: string, condition: StatusCondition, cause?: StatusCause): StatusMerchant => ({
  ...merchant,
  session: { generation: 1, createdAt: 0, renewAt: 1, mustRenewAt: 2, expiresAt: 63_000 },
  renewalBlocked: true,
  id,
  condition,
  ...(cause === undefined ? {} : { cause }),
});

const told = (counts: Partial<StatusCounts>, state: object = {}): Headline =>
  headlineOf({ ...document, ...state }, { ...none, ...counts }, 3_000);

describe('the headline', () => {
  it.each<[string, Partial<StatusCounts>, object, Partial<Headline>]>([
    [
      'that one session is good',
      { fresh: 1 },
      {},
      { condition: 'fresh', text: 'The session is good', runbook: undefined },
    ],
    [
      'that the store is away, while all are good',
      { fresh: 2 },
      { store: { type: 'redis', condition: 'silent', cause: silent } },
      {
        condition: 'failing',
        text: 'The store does not answer; all 2 sessions are good',
        detail: 'See Redis.',
        runbook: 'store-down',
      },
    ],
    [
      'what the replica says of the worst one, and how many others there are',
      { unavailable: 1, failing: 2, fresh: 5 },
      { merchants: [bad('shop', 'unavailable', refused('Payments fail')), bad('kiosk', 'failing', silent)] },
      {
        condition: 'unavailable',
        text: 'shop: Payments fail: the bank refuses: b_merchant_not_found',
        ending: '',
        detail: 'Ask the bank. Others: 2 failing · 5 fresh',
        runbook: 'access-refused',
      },
    ],
    [
      'how many have the same, and until when the first of them is good',
      { failing: 2 },
      { merchants: [bad('shop', 'failing', refused('Not renewed')), bad('kiosk', 'failing', refused('Not renewed'))] },
      {
        condition: 'failing',
        text: '2 merchants: Not renewed: the bank refuses: b_merchant_not_found',
        ending: '; the session of shop ends in 1 min 0 s',
        detail: 'Ask the bank.',
      },
    ],
    ['the condition, where nobody knows more', { stale: 1 }, {}, { text: '1 merchant: Stale', runbook: undefined }],
    [
      'that the replica is shutting down',
      { fresh: 1 },
      { replica: { ...document.replica, shuttingDown: true } },
      { condition: 'failing', detail: 'This replica is shutting down.' },
    ],
  ])('says %s', (...[, counts, state, expected]) => {
    expect(told(counts, state)).toMatchObject(expected);
  });
});
