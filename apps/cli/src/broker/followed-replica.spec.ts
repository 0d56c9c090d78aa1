import { FakeClock } from '#libs/testing';
import { AcceptedToken } from './accepted-token.js';
import { FollowedReplica } from './followed-replica.js';

describe('the replica that is followed', () => {
  const init = { method: 'GET', headers: {} } as Parameters<ReturnType<FollowedReplica['through']>>[1];
  const lost: object[] = [];
  const following = {
    clock: new FakeClock(),
    signal: new AbortController().signal,
    onLost: (replicas: readonly object[]) => void lost.push(...replicas),
    onTurnedAway: () => undefined,
    accepted: new AcceptedToken(),
  };
  const urls = [new URL('http://a.example:8080'), new URL('https://b.example/broker/')] as const;

  it('is the next one after each interruption, and then the first again', () => {
    const replica = new FollowedReplica([...urls]);
    const followed = [0, 1, 2].map(() => {
      const { href } = replica.url;
      replica.changeOver();
      return href;
    });
    expect(followed).toEqual(['http://a.example:8080/', 'https://b.example/broker/', 'http://a.example:8080/']);
  });

  it('is asked in the place of the first, and named in its place', async () => {
    const replica = new FollowedReplica([...urls]);
    const asked: string[] = [];
    const fetch = replica.through((url) => (asked.push(url), Promise.resolve(new Response())), following);
    await fetch('http://a.example:8080/v1/merchants/shop/session?x=1', init);
    replica.changeOver();
    await fetch('http://a.example:8080/v1/merchants/shop/session?x=1', init);
    expect(asked).toEqual([
      'http://a.example:8080/v1/merchants/shop/session?x=1',
      'https://b.example/broker/v1/merchants/shop/session?x=1',
    ]);
    expect(replica.readdressed('no answer from http://a.example:8080')).toBe('no answer from https://b.example');
  });

  it('is none any more once each of them ends what is begun for good, by its last answer', async () => {
    const failed = (code: string): TypeError =>
      new TypeError('fetch failed', { cause: Object.assign(new Error(), { code }) });
    const replica = new FollowedReplica([...urls]);
    const next: (Response | TypeError)[] = [
      failed('DEPTH_ZERO_SELF_SIGNED_CERT'),
      failed('ECONNREFUSED'),
      new Response(),
      failed('CERT_HAS_EXPIRED'),
      failed('CERT_HAS_EXPIRED'),
    ];
    const fetch = replica.through(() => {
      const answer = next.shift();
      return answer instanceof Error ? Promise.reject(answer) : Promise.resolve(answer ?? new Response());
    }, following);
    const told: number[] = [];
    while (next.length > 0) {
      await fetch('http://a.example:8080/v1/merchants/shop/session', init).catch((error: unknown) => error);
      told.push(lost.length);
      replica.changeOver();
    }
    expect(told).toEqual([0, 0, 0, 0, 2]);
    const expired = (where: string): object => ({
      problem: `the certificate of ${where} has expired (CERT_HAS_EXPIRED)`,
      code: 'certificate_untrusted',
      fault: 'refused',
      mark: 'CERT_HAS_EXPIRED',
    });
    expect(lost).toEqual([
      { url: urls[1], why: expired('b.example:443') },
      { url: urls[0], why: expired('a.example:8080') },
    ]);
  });

  it('is left at once for the next one where it turns the merchant away, and asked once each', async () => {
    const replica = new FollowedReplica([...urls]);
    const statuses = new Map([
      ['a.example:8080', 404],
      ['b.example', 200],
    ]);
    const asked: string[] = [];
    const fetch = replica.through((url) => {
      const { host } = new URL(url);
      asked.push(host);
      return Promise.resolve(new Response(null, { status: statuses.get(host) ?? 500 }));
    }, following);
    expect((await fetch('http://a.example:8080/v1/merchants/shop/session', init)).status).toBe(200);
    expect([asked, replica.url.host]).toEqual([['a.example:8080', 'b.example'], 'b.example']);
    statuses.set('b.example', 404);
    expect((await fetch('http://a.example:8080/v1/merchants/shop/session', init)).status).toBe(404);
    expect(asked.slice(2)).toEqual(['b.example']);
  });

  describe('turns a merchant away', () => {
    type Answer = number | 'nobody';
    type Fetch = Parameters<FollowedReplica['through']>[0];

    /** Where the caller is turned away after each answer, asking the replicas in turn. */
    async function turnedAwayAt(answers: readonly Answer[]): Promise<readonly (string | undefined)[]> {
      const replica = new FollowedReplica([...urls]);
      const next = [...answers];
      const ask: Fetch = () => {
        const status = next.shift();
        const nobody = new TypeError('fetch failed', { cause: Object.assign(new Error(), { code: 'ECONNREFUSED' }) });
        return typeof status === 'number' ? Promise.resolve(new Response(null, { status })) : Promise.reject(nobody);
      };
      const fetch = replica.through(ask, { ...following, accepted: new AcceptedToken() });
      const told: (string | undefined)[] = [];
      while (next.length > 0) {
        await fetch('http://a.example:8080/v1/merchants/shop/session', init).catch((error: unknown) => error);
        told.push(replica.turnedAwayAt?.host);
        replica.changeOver();
      }
      return told;
    }

    it.each<[string, readonly Answer[], string | undefined]>([
      ['once the last replica does', [403, 404], 'a.example:8080'],
      ['not while another one has it', [403, 200], undefined],
      ['not while another one answers that it is away', [403, 503], undefined],
      ['not while another one has answered nothing', [403, 'nobody'], undefined],
      ['not while another one has answered nothing, whichever is asked first', ['nobody', 403, 'nobody'], undefined],
      ['where the one that answered nothing is there without it', [403, 'nobody', 403, 404], 'a.example:8080'],
      ['where none of them has ever known the caller', [401, 401], 'a.example:8080'],
      [
        'where one never knew the caller, and the other one is there again',
        ['nobody', 401, 'nobody', 401, 401],
        'a.example:8080',
      ],
      ['not while one that may know the caller is not reached', [401, 'nobody'], undefined],
      ['not where the caller was known before', [200, 401, 401], undefined],
      ['not where none is reached', ['nobody', 'nobody'], undefined],
      ['not where the first one has it again', [403, 503, 200, 403, 200], undefined],
      ['not where one that has had it is not reached', [200, 403, 'nobody', 403], undefined],
      ['where the one that has had it is back without it', [200, 403, 'nobody', 403, 404], 'a.example:8080'],
    ])('%s', async (_when, answers, expected) => {
      expect((await turnedAwayAt(answers)).at(-1)).toBe(expected);
    });
  });
});
