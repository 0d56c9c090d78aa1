import { GatewayFailure, type GatewayFailureFacts, type SessionEvent } from '#libs/session';
import { createLogger } from '#libs/telemetry';
import { EventLog } from './event-log.js';

const merchant = 'shop';
const THUMBPRINT = 'V9aJ5NusUFnWTvi2YBLxvAB3vCXj7Vo20BPbiFaN8-U';
const FOREIGN = { event: 'foreign_authorizer', merchant, generation: 7, quietMs: 185_400 } as const;

const failed = (outcome: 'invalid_response' | 'transient', facts: Omit<GatewayFailureFacts, 'kind'>): SessionEvent => ({
  event: 'renewal_finished',
  merchant,
  trigger: 'schedule',
  outcome,
  durationMs: 12,
  generation: 1,
  retryInMs: 1_000,
  failure: new GatewayFailure({ kind: outcome, ...facts }),
});

/** An error where only a person can help; the cause in the words of the status page. */
const table: readonly (readonly [what: string, event: SessionEvent, line: object])[] = [
  [
    'a session that has expired',
    { event: 'service_ended', merchant, cause: { code: 'store_silent', effect: 'not_renewed' } },
    { level: 'error', merchant, cause: 'Not renewed: the store does not answer', runbook: 'store-down' },
  ],
  ['a merchant that is served again', { event: 'service_resumed', merchant }, { level: 'info', merchant }],
  [
    'somebody else who creates sessions',
    { ...FOREIGN, isPresent: true },
    { level: 'error', msg: 'somebody else creates sessions of this merchant and ends ours' },
  ],
  [
    'the end of that as it was observed, without an all-clear',
    { ...FOREIGN, isPresent: false },
    {
      level: 'warn',
      quietMs: 185_400,
      msg: 'for 3 min no consumer has reported the session of this merchant dead to this replica; somebody else may still create sessions of it',
    },
  ],
  [
    'an answer that is sealed to another key, which only the bank can end',
    failed('invalid_response', { detail: 'the jwe was not opened', thumbprint: THUMBPRINT }),
    { level: 'error', runbook: 'access-refused', thumbprint: THUMBPRINT },
  ],
  [
    'a host and port on which nothing listens',
    failed('transient', { detail: 'broke off', mark: 'ECONNREFUSED', peer: 'bank.example:443' }),
    {
      level: 'warn',
      cause: 'nothing listens there (ECONNREFUSED to bank.example:443)',
      runbook: 'renewals-failing',
    },
  ],
];

it.each(table)('the log tells of %s', (_what, event, line) => {
  const lines: unknown[] = [];
  const destination = { write: (text: string) => void lines.push(JSON.parse(text)) };
  new EventLog(createLogger({ name: 'broker', level: 'debug', destination })).emit(event);
  expect(lines).toEqual([expect.objectContaining(line)]);
});
