import { GatewayFailure, type GatewayFailureFacts } from '#libs/session';
import { createLogger } from '#libs/telemetry';
import { EventLog } from './event-log.js';

const THUMBPRINT = 'V9aJ5NusUFnWTvi2YBLxvAB3vCXj7Vo20BPbiFaN8-U';

class Written {
  readonly lines: Record<string, unknown>[] = [];
  readonly log = new EventLog(
    createLogger({
      name: 'broker',
      level: 'debug',
      destination: { write: (line) => void this.lines.push(JSON.parse(line) as Record<string, unknown>) },
    }),
  );

  failed(facts: GatewayFailureFacts): Record<string, unknown> | undefined {
    const { kind } = facts;
    if (kind === 'aborted') throw new Error('an abort is not reported');
    this.log.emit({
      event: 'renewal_finished',
      merchant: 'shop',
      trigger: 'schedule',
      outcome: kind,
      durationMs: 12,
      generation: 1,
      failure: new GatewayFailure(facts),
      retryInMs: 1_000,
    });
    return this.lines.at(-1);
  }
}

describe('the log lines of what is served', () => {
  const cause = { code: 'store_silent', effect: 'not_renewed' } as const;
  it('name a merchant whose session has expired, and that is served again', () => {
    const { log, lines } = new Written();
    log.emit({ event: 'service_ended', merchant: 'shop', cause });
    log.emit({ event: 'service_resumed', merchant: 'shop' });
    expect(lines).toMatchObject([
      {
        level: 'error',
        merchant: 'shop',
        msg: 'there is no session to serve any more: it has expired',
        cause: 'Not renewed: the store does not answer',
        runbook: 'store-down',
      },
      { level: 'info', merchant: 'shop', msg: 'there is a session to serve again' },
    ]);
  });
});

describe('the log lines of somebody else who creates', () => {
  it.each([[185_400, '3 min']])(
    'say of the end what was observed, and no all-clear: %d ms without a report',
    (quietMs, text) => {
      const { log, lines } = new Written();
      const event = { event: 'foreign_authorizer', merchant: 'shop', generation: 7, quietMs } as const;
      log.emit({ ...event, isPresent: true });
      log.emit({ ...event, isPresent: false });
      expect(lines).toMatchObject([
        {
          level: 'error',
          msg: 'somebody else creates sessions of this merchant and ends ours',
          runbook: 'foreign-authorizer',
        },
        {
          level: 'warn',
          merchant: 'shop',
          msg: `for ${text} no consumer has reported the session of this merchant dead to this replica; somebody else may still create sessions of it`,
          runbook: 'foreign-authorizer',
          quietMs,
        },
      ]);
    },
  );
});

describe('the log line of a renewal that failed', () => {
  it('is an error with the thumbprint when the answer is sealed to another key, because only the bank can end that', () => {
    const line = new Written().failed({
      kind: 'invalid_response',
      detail: 'the jwe was not opened',
      thumbprint: THUMBPRINT,
    });
    expect(line).toMatchObject({
      level: 'error',
      msg: 'renewal failed; it will not pass by itself',
      cause: "the bank's new session opens with none of our keys",
      runbook: 'access-refused',
      thumbprint: THUMBPRINT,
    });
  });

  it('names the host and port that nothing listens on, in the words of the status page', () => {
    const line = new Written().failed({
      kind: 'transient',
      detail: 'broke off (ECONNREFUSED)',
      mark: 'ECONNREFUSED',
      peer: 'bank.example:443',
    });
    expect(line).toMatchObject({
      level: 'warn',
      msg: 'renewal failed; it will be repeated',
      cause: 'nothing listens there (ECONNREFUSED to bank.example:443)',
      runbook: 'renewals-failing',
    });
  });
});
