import { GatewayFailure, type GatewayFailureFacts } from '#libs/session';
import { createLogger } from '#libs/telemetry';
import { EventLog } from './event-log.js';

const THUMBPRINT = 'V9aJ5NusUFnWTvi2YBLxvAB3vCXj7Vo20BPbiFaN8-U';

class Written {
  readonly lines: Record<string, unknown>[] = [];
  readonly log = new EventLog(
    createLogger({
      name: 'broker',
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
      cause: `the answer is sealed to another key than ours (thumbprint ${THUMBPRINT}), or damaged`,
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
