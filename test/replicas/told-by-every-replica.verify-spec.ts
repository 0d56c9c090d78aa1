import { hostname } from 'node:os';
import { describeWith, endedAfterAll, eventually } from '#libs/testing';
import { type Replica, TOKEN, WatchedReplicas } from '../observability/watched-replicas.js';

/** Longer than a person who asks again is answered with the session of before. */
const NO_LONGER_NEW_MS = 12_000;

interface Listed {
  readonly condition: string;
  readonly generation: number;
  readonly cause?: string;
  readonly runbook?: string;
}

/**
 * Two replicas as processes and a real Redis: all consumers report to the first, and everyone who looks, looks at the
 * other.
 */
describeWith('redis-server', 'what a consumer has told one replica', () => {
  let watched: WatchedReplicas;

  const started = endedAfterAll();
  beforeAll(async () => {
    // The calls of a budget are counted one by one: none is to be made again because the machine was busy.
    const spent = { id: 'spent', lifetimeMs: 86_400_000, timeout: '5s', budget: 2 };
    watched = started.add(await WatchedReplicas.start([spent], [], 2), (it) => it.stop());
    await agreed('fresh');
  });

  const replica = (index: number): Replica => {
    const found = watched.replicas[index];
    if (found === undefined) throw new Error(`there is no replica ${index}`);
    return found;
  };
  const ask = (index: number, path: string, init: RequestInit = {}): Promise<Response> => {
    const headers = { authorization: `Bearer ${TOKEN}`, 'content-type': 'application/json' };
    return fetch(`${replica(index).url}/v1/merchants${path}`, { ...init, headers });
  };
  async function listed(index: number): Promise<Listed> {
    const { merchants } = (await (await ask(index, '')).json()) as { merchants: [Listed] };
    return merchants[0];
  }
  const everywhere = (): Promise<Listed[]> => Promise.all(watched.replicas.map((_one, index) => listed(index)));
  /** Both say it: the one that was told, and the other after its next look at the store. */
  const agreed = (condition: string): Promise<void> =>
    eventually(async () => {
      const said = await everywhere();
      return said.every((one) => one.condition === condition);
    });
  /** The row of the merchant and what is said of it below the table. */
  const status = async (index: number): Promise<{ code: number | null; line: string }> => {
    const { code, out } = await watched.cli('status', '--url', replica(index).url);
    const lines = out.split('\n').filter((line) => /^spent:? /.test(line));
    return { code, line: lines.join(' ') };
  };

  it('is told by replicas that have names of their own, although they share a host', async () => {
    const names = await Promise.all(
      watched.replicas.map(async (one, index) => {
        const { replica: name } = (await (await ask(index, '')).json()) as { replica: string };
        expect(name).toBe(`${hostname()}:${new URL(one.url).port}`);
        const page = (await (await fetch(`http://${one.management}/status.json`)).json()) as { replica: object };
        expect(page.replica).toMatchObject({ name });
        expect((await watched.cli('status', '--url', one.url)).out).toContain(`${name}  ${one.url}\n`);
        return name;
      }),
    );
    expect(new Set(names).size).toBe(2);
  });

  it('is told by the other, by API, page and command line: that the session is dead and was not replaced', async () => {
    const { generation } = await listed(0);
    const init = { method: 'POST', body: JSON.stringify({ generation, reason: 'b_used_token' }) };
    const refused = await ask(0, '/spent/session/rejections', init);
    expect([refused.status, await refused.json()]).toEqual([
      503,
      expect.objectContaining({ reason: 'budget_exhausted' }),
    ]);
    await agreed('dead');
    const [told, other] = await everywhere();
    expect(told?.cause).toBe('Payments fail, by report: the share of the budget is spent');
    const text = 'Payments fail, by report: nothing newer has come yet';
    expect(other?.cause).toBe(text);
    const page = (await (await fetch(`http://${replica(1).management}/status.json`)).json()) as object;
    const cause = { text, runbook: other?.runbook };
    expect(page).toMatchObject({ merchants: [{ condition: 'dead', cause }] });
    const line = expect.stringMatching(/^spent .* dead .* Payments fail, by report: nothing newer has come yet/);
    expect(await status(1)).toEqual({ code: 4, line });
  });

  it('is told by a replica that starts only now', async () => {
    const { process } = await watched.add();
    await eventually(async () => (await listed(2)).condition === 'dead');
    process.signal('SIGKILL');
    await process.ended;
    watched.replicas.pop();
  });

  it('ends on both with the session that a person has the other one create', async () => {
    const { createdAt } = (await (await ask(0, '/spent/session')).json()) as { createdAt: string };
    await eventually(() => Date.now() - Date.parse(createdAt) > NO_LONGER_NEW_MS);
    const renewed = await watched.cli('renew', '--merchant', 'spent', '--url', replica(1).url);
    expect(renewed).toMatchObject({ code: 0, out: expect.stringMatching(/^session +of spent was created\n/) });
    await agreed('fresh');
    expect((await status(0)).line).toMatch(/^spent .* fresh /);
    expect((await status(1)).line).toMatch(/^spent .* fresh /);
  });
});
