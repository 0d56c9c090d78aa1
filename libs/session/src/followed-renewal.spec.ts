import { BrokerError } from '#libs/errors';
import { renewAndFollow } from './followed-renewal.js';
import type { RenewalResult } from './renewal-result.js';

const request = { merchant: 'shop', trigger: 'demand', newerThan: 0, coolDownMs: 0 } as const;
const bug = new TypeError('not a function');

/** The result of a wish, and what is read from the store for it, now and later. */
async function following(result: RenewalResult, refreshing?: Error) {
  const [read, wanted]: [string[], string[]] = [[], []];
  const parts = {
    renewer: { renew: async () => result },
    sync: {
      want: (merchants: readonly string[]) => wanted.push(...merchants),
      refresh: async (merchant: string) => {
        read.push(merchant);
        if (refreshing !== undefined) throw refreshing;
      },
    },
  } as unknown as Parameters<typeof renewAndFollow>[0];
  return { read, wanted, result: await renewAndFollow(parts, request) };
}

describe('a wish whose outcome is followed', () => {
  it('is read back later when it was fulfilled: its next due moment is watched from its beginning', async () => {
    const result = { kind: 'renewed' } as const;
    expect(await following(result)).toEqual({ read: [], wanted: ['shop'], result });
  });

  it.each<RenewalResult>([{ kind: 'already_newer' }, { kind: 'lost', retryInMs: 0 }])(
    'has the session of others read before it is answered: %j',
    async (result) => expect(await following(result)).toEqual({ read: ['shop'], wanted: [], result }),
  );

  it('that was merely refused causes no read', async () => {
    const result = { kind: 'held', retryInMs: 5_000 } as const;
    expect(await following(result)).toEqual({ read: [], wanted: [], result });
  });

  it.each(['store_unavailable', 'store_refused'] as const)(
    'has not been fulfilled when the session of others cannot be read: %s',
    async (code) => {
      const { result } = await following({ kind: 'already_newer' }, new BrokerError(code));
      expect(result).toEqual({ kind: 'store_down', retryInMs: 1_000 });
    },
  );

  it('hides no bug', async () => {
    await expect(following({ kind: 'already_newer' }, bug)).rejects.toBe(bug);
  });
});
