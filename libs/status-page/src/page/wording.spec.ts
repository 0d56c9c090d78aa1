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
import { outlookText } from './wording.js';

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
  const failure = { at: 0, kind: 'transient' };

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
const card = (kind: string, changed: Partial<StatusDocument>): Partial<CardContent> => {
  const found = contentsOf({ ...document, ...changed }).find((one) => one.kind === kind);
  return { ...found, facts: found?.facts.filter(([, value]) => value !== undefined) ?? [] };
};

describe('the card of a gateway', () => {
  const ofGateway = (changed: Partial<StatusGateway>) => card('Gateway', { gateways: [{ ...gateway, ...changed }] });

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
    expect(ofGateway({ health: 'untrusted' })).toMatchObject({ condition: 'unavailable', state: 'Not trusted' });
  });
});

describe('the card of the replica', () => {
  it.each([
    [{ ready: false }, 'Not ready: a required merchant has no session'],
    [{ ready: false, storeReached: false }, 'Not ready: the store has not answered yet'],
    [{ shuttingDown: true }, 'Shutting down'],
  ])('says of %j that it is not in service, and why', (changed, state) => {
    const shown = card('This replica', { replica: { ...document.replica, ...changed } });
    expect(shown).toMatchObject({ condition: 'unavailable', state });
  });
});

describe('the notice of the configuration', () => {
  const refusedChange = { since: 1_000, faults: 1, text: '1 fault: http.tls.certFile' };
  const cure = { text: 'restart one replica', runbook: 'store-down' };

  it.each([
    [
      'refused',
      { refusedChange },
      'Configuration: a change has been refused since 00:00:01 UTC (1 fault: http.tls.certFile); the previous configuration is in force.',
      'config-reload-failed',
    ],
    [
      'to wait for the next start',
      { awaitingRestart: ['http.port', 'store'], awaitingSince: 1_000, restartAdvice: cure },
      'Configuration: changed at 00:00:01 UTC, to take effect with the next start: http.port, store. Restart one replica.',
      'store-down',
    ],
    [
      'refused while another waits, since a replica would not start with it',
      { refusedChange, awaitingRestart: ['store'], restartAdvice: cure },
      expect.stringMatching(/ is in force\.\nConfiguration: changed, /),
      'config-reload-failed',
    ],
  ])('says of a change that it is %s, and where to go on', (...[, change, text, runbook]) => {
    expect(configurationNotice(change, 90_000)).toEqual({ text, runbook });
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
