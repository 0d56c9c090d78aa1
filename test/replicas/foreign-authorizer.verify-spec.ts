import { describeWith, endedAfterAll, eventually } from '#libs/testing';
import { TOKEN, WatchedReplicas } from '../observability/watched-replicas.js';

const PAUSE_MS = 15_000;
const FIGHT_MS = 40_000;

interface ListedMerchant {
  readonly state: string;
  readonly reason: string;
  readonly generation: number;
}

interface Shown {
  readonly merchants: readonly { readonly condition: string; readonly reason: string }[];
}

/** Three replicas as processes, a real Redis, a gateway that supersedes at once, and a rival with our service code. */
describeWith('redis-server', 'somebody else who creates sessions, before three replicas', () => {
  let watched: WatchedReplicas;
  let rivalCalls = 0;

  const started = endedAfterAll();
  beforeAll(async () => {
    const shop = { id: 'shop', lifetimeMs: 86_400_000, supersedes: true, foreignAuthorizerPause: '15s' };
    watched = started.add(await WatchedReplicas.start([shop], [], 3), (it) => it.stop());
    await eventually(async () => (await listed()).every(({ state }) => state === 'fresh'));
  });

  const ask = (replica: number, path: string, init: RequestInit = {}): Promise<Response> => {
    const headers = { authorization: `Bearer ${TOKEN}`, 'content-type': 'application/json' };
    return fetch(`${watched.replicas[replica]?.url}/v1/merchants${path}`, { ...init, headers });
  };
  const listed = (): Promise<ListedMerchant[]> =>
    Promise.all(
      [0, 1, 2].map(async (replica) => {
        const { merchants } = (await (await ask(replica, '')).json()) as { merchants: ListedMerchant[] };
        const [merchant] = merchants;
        if (merchant === undefined) throw new Error('there is one merchant');
        return merchant;
      }),
    );
  const session = async (replica: number): Promise<{ generation: number; createdAt: string }> =>
    (await (await ask(replica, '/shop/session')).json()) as { generation: number; createdAt: string };
  const held = async (replica: number): Promise<number> => (await session(replica)).generation;
  const report = async (replica: number, generation: number): Promise<Response> =>
    ask(replica, '/shop/session/rejections', {
      method: 'POST',
      body: JSON.stringify({ generation, reason: 'b_used_token' }),
    });
  const rivalCreates = async (): Promise<void> => {
    rivalCalls += 1;
    await watched.createAsRival('shop');
  };
  const ourCalls = async (): Promise<number> => (await watched.createCalls()) - rivalCalls;
  /**
   * A death reported while a replica has just lost sight of Redis shows nothing, on purpose: then the next one does.
   */
  const reportUntilNoticed = async (): Promise<Response> => {
    let noticed: Response | undefined;
    await eventually(async () => {
      const answer = await report(1, await held(1));
      if (answer.status === 200) await agreed().then(rivalCreates);
      else if (((await answer.clone().json()) as { code: string }).code === 'foreign_authorizer') noticed = answer;
      return noticed !== undefined;
    });
    return noticed as Response;
  };
  const metricOf = async (management: string): Promise<string | undefined> => {
    const text = await (await fetch(`http://${management}/metrics`)).text();
    return /^session_broker_foreign_authorizer\{[^}]*merchant="shop"[^}]*\} (\d)$/m.exec(text)?.[1];
  };
  const agreed = (): Promise<void> =>
    eventually(async () => new Set((await listed()).map(({ generation }) => generation)).size === 1);

  it('is met with one session at first', async () => {
    await rivalCreates();
    expect((await report(0, await held(0))).status).toBe(200);
    await agreed();
    expect(await ourCalls()).toBe(2);
    expect((await listed()).map(({ state }) => state)).toEqual(['fresh', 'fresh', 'fresh']);
  });

  it('is noticed, and every replica says so: by API, page, metric and log', async () => {
    await rivalCreates();
    const refused = await reportUntilNoticed();
    expect(Number(refused.headers.get('retry-after'))).toBeLessThanOrEqual(PAUSE_MS / 1_000);
    await eventually(async () => (await listed()).every(({ state }) => state === 'foreign_authorizer'));
    for (const { reason } of await listed()) expect(reason).toBe('foreign_authorizer');
    for (const { management, process } of watched.replicas) {
      expect(await metricOf(management)).toBe('1');
      const { merchants } = (await (await fetch(`http://${management}/status.json`)).json()) as Shown;
      expect(merchants).toMatchObject([{ condition: 'foreign_authorizer', reason: 'foreign_authorizer' }]);
      expect(process.out.match(/somebody else creates sessions of this merchant/g)).toHaveLength(1);
    }
  });

  it('gets no duel: whichever consumer reports to whichever replica, rejections create once in a pause, and reads are served', async () => {
    const created: number[] = [];
    let calls = await ourCalls();
    const endsAtMs = performance.now() + FIGHT_MS;
    for (let turn = 0; performance.now() < endsAtMs; turn += 1) {
      const replica = turn % 3;
      const generation = await held(replica);
      const response = await report(replica, generation);
      expect([200, 503]).toContain(response.status);
      expect((await ask(replica, '/shop/session')).status).toBe(200);
      const now = await ourCalls();
      if (now > calls) {
        await rivalCreates();
        await agreed();
        // By the clock of the replica that made the call: on a busy machine, when it is seen here says nothing.
        created.push(Date.parse((await session(replica)).createdAt));
      }
      expect(now - calls).toBeLessThanOrEqual(1);
      calls = now;
    }
    const apart = created.slice(1).map((at, index) => at - (created[index] ?? 0));
    console.log(
      `${created.length} sessions for rejections in ${FIGHT_MS / 1_000} s, at least ${Math.min(...apart)} ms apart`,
    );
    expect(created.length).toBeGreaterThanOrEqual(2);
    expect(created.length).toBeLessThanOrEqual(Math.ceil(FIGHT_MS / PAUSE_MS));
    // This is the moment of the call, while the pause begins with the end of the call before it.
    expect(Math.min(...apart)).toBeGreaterThan(PAUSE_MS - 1_000);
  });
});
