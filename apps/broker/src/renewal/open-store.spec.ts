import type { Logger } from '#libs/telemetry';
import type { StoreCondition } from './store-state.js';
import { logStoreState } from './open-store.js';

describe('the log of the store', () => {
  const told = (condition: StoreCondition, detail: string): readonly unknown[] => {
    const lines: unknown[] = [];
    const at = (level: string) => (fields: object, message: string) => lines.push([level, fields, message]);
    logStoreState({ info: at('info'), warn: at('warn'), error: at('error') } as unknown as Logger, condition, {
      detail,
      address: 'redis:6379',
    });
    return lines;
  };

  it('tells an outage, which passes, from a refusal, which a person has to mend, with its reason and runbook', () => {
    expect(told('silent', 'ECONNREFUSED')).toEqual([
      [
        'warn',
        { detail: 'ECONNREFUSED', address: 'redis:6379', runbook: 'store-down' },
        'the store does not answer; sessions in memory go on being served',
      ],
    ]);
    expect(told('refuses', 'NOPERM')).toEqual([
      [
        'error',
        { detail: 'NOPERM', address: 'redis:6379', runbook: 'store-down' },
        expect.stringMatching(/^the store refuses: NOPERM; /),
      ],
    ]);
    expect(told('refuses', 'Redis asks for a certificate of the broker')).toMatchObject([
      [
        'error',
        { detail: 'Redis asks for a certificate of the broker' },
        'the store refuses: Redis asks for a certificate of the broker (give store.tls.certFile and store.tls.keyFile); it will not pass by itself, and no session is created',
      ],
    ]);
    expect(told('refuses', 'SELF_SIGNED_CERT_IN_CHAIN')).toMatchObject([
      [
        'error',
        { detail: 'SELF_SIGNED_CERT_IN_CHAIN' },
        expect.stringMatching(
          /^the store refuses: SELF_SIGNED_CERT_IN_CHAIN \(store\.tls\.caFile has to name the authority/,
        ),
      ],
    ]);
    expect(told('answers', 'again, after 20 ms')).toEqual([
      ['info', { detail: 'again, after 20 ms', address: 'redis:6379' }, 'the store answers'],
    ]);
  });
});
