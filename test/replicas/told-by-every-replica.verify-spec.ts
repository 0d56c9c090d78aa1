import { hostname } from 'node:os';
import { describeWith, endedAfterAll, eventually } from '#libs/testing';
import { type Replica, TOKEN, WatchedReplicas } from '../observability/watched-replicas.js';

/** Longer than any cool-down of these merchants: after it, a report counts again. */
const COOLED_MS = 12_000;
/** A quarter of the lifetime of `cooled`: a death after that does not point to anyone else. */
const NO_EARLY_DEATH_MS = 15_000;
const FOREIGN = 'Payments fail: somebody else creates sessions with the bank, and each ends ours';
/** The calls of a budget are counted one by one: none is to be made again because the machine was busy. */
const TIMEOUT = '5s';

interface Listed {
  readonly id: string;
  readonly condition: string;
  readonly generation: number;
  readonly cause?: string;
  readonly runbook?: string;
}

interface Shown extends Omit<Listed, 'cause'> {
  readonly cause?: { readonly text: string; readonly runbook: string };
}

interface Answer {
  readonly status: number;
  readonly body: { readonly code?: string; readonly reason?: string; readonly cause?: string };
}

/** Each replica goes by its own clock, so the same moment may fall on either side of a second. */
const TIME = /\d\d:\d\d:\d\d(?= UTC)/g;
const alike = ({ cause }: Pick<Listed, 'cause'>): string | undefined => cause;
const wordsOf = ({ cause = '' }: Partial<Listed> = {}): readonly string[] => cause.split(TIME);
const timesOf = ({ cause = '' }: Partial<Listed> = {}): readonly number[] =>
  [...cause.matchAll(TIME)].map(([time]) => Date.parse(`1970-01-01T${time}Z`));

/**
 * Two replicas as processes and a real Redis: all consumers report to the first, and everyone who looks, looks at the
 * other.
 */
describeWith('redis-server', 'what a consumer has told one replica', () => {
  let watched: WatchedReplicas;

  const started = endedAfterAll();
  beforeAll(async () => {
    const merchants = [
      { id: 'cooled', lifetimeMs: 60_000, timeout: TIMEOUT },
      { id: 'spent', lifetimeMs: 86_400_000, timeout: TIMEOUT, budget: 2 },
      { id: 'duel', lifetimeMs: 120_000, timeout: TIMEOUT, budget: 4, foreignAuthorizerPause: '10s' },
    ];
    watched = started.add(await WatchedReplicas.start(merchants, [], 2), (it) => it.stop());
    await eventually(async () => (await everywhere('duel')).every(({ condition }) => condition === 'fresh'));
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
  async function listed(index: number, id: string): Promise<Listed> {
    const { merchants } = (await (await ask(index, '')).json()) as { merchants: Listed[] };
    const found = merchants.find((one) => one.id === id);
    if (found === undefined) throw new Error(`${id} is configured`);
    return found;
  }
  const everywhere = (id: string): Promise<Listed[]> =>
    Promise.all(watched.replicas.map((_one, index) => listed(index, id)));
  /** Both say it in the same words: the one that was told, and the other after its next look at the store. */
  const agreed = (id: string, condition: string): Promise<void> =>
    eventually(async () => {
      const said = await everywhere(id);
      return said.every((one) => one.condition === condition && alike(one) === said[0]?.cause);
    });
  async function report(id: string): Promise<Answer> {
    const { generation } = await listed(0, id);
    const init = { method: 'POST', body: JSON.stringify({ generation, reason: 'b_used_token' }) };
    const response = await ask(0, `/${id}/session/rejections`, init);
    return { status: response.status, body: (await response.json()) as Answer['body'] };
  }
  async function shown(index: number, id: string): Promise<Shown | undefined> {
    const { merchants } = (await (await fetch(`http://${replica(index).management}/status.json`)).json()) as {
      merchants: Shown[];
    };
    return merchants.find((one) => one.id === id);
  }
  const cli: WatchedReplicas['cli'] = (...args) => watched.cli(...args);
  /** The row of the merchant and what is said of it below the table. */
  const status = async (index: number, id: string): Promise<{ code: number | null; line: string | undefined }> => {
    const { code, out } = await cli('status', '--url', replica(index).url);
    const lines = out.split('\n').filter((line) => line.startsWith(`${id} `) || line.startsWith(`${id}: `));
    return { code, line: lines.length === 0 ? undefined : lines.join(' ') };
  };
  /** By API, page and command line of the replica to which nobody has reported anything. */
  async function expectToldByOther(id: string, condition: string, said: RegExp): Promise<void> {
    const [told = { id, condition, generation: 0 }, other] = await everywhere(id);
    expect(other).toMatchObject({ condition, cause: expect.any(String), runbook: told.runbook });
    expect(wordsOf(other)).toEqual(wordsOf(told));
    for (const [index, at] of timesOf(other).entries()) {
      expect(Math.abs(at - (timesOf(told)[index] ?? 0))).toBeLessThanOrEqual(5_000);
    }
    const page = await shown(1, id);
    expect(page).toMatchObject({ condition, cause: { runbook: other?.runbook } });
    expect(wordsOf({ cause: page?.cause?.text ?? '' })).toEqual(wordsOf(other));
    expect(await status(1, id)).toEqual({ code: 4, line: expect.stringMatching(said) });
  }
  async function ageOf(id: string): Promise<number> {
    const { createdAt } = (await (await ask(0, `/${id}/session`)).json()) as { createdAt: string };
    return Date.now() - Date.parse(createdAt);
  }

  /** Those within a cool-down: a report is counted only where it was made. */
  async function rejectionsOf(index: number, id: string): Promise<number> {
    const text = await (await fetch(`http://${replica(index).management}/metrics`)).text();
    const found = new RegExp(
      `^session_broker_rejections_total\\{(?=[^}]*merchant="${id}")(?=[^}]*result="cooled_down")[^}]*\\} (\\d+)$`,
      'm',
    ).exec(text);
    return Number(found?.[1]);
  }

  /** Within ten seconds a person is told of the same session. */
  const noLongerNew = (id: string): Promise<void> => eventually(async () => (await ageOf(id)) > COOLED_MS);

  // This comes first: the initial session has to die while it is young.
  it('is told by the other: that somebody else creates, also once the budget is spent in the duel, and ends on both', async () => {
    expect((await report('duel')).status).toBe(200);
    expect(await report('duel')).toMatchObject({
      status: 503,
      body: {
        code: 'foreign_authorizer',
        cause: FOREIGN,
      },
    });
    await agreed('duel', 'foreign_authorizer');
    await expectToldByOther('duel', 'foreign_authorizer', new RegExp(`^duel .* foreign authorizer .* ${FOREIGN}`));
    let spent: Answer | undefined;
    await eventually(async () => {
      spent = await report('duel');
      return spent.body.reason === 'budget_exhausted';
    });
    expect(spent).toMatchObject({
      status: 503,
      body: {
        code: 'session_unavailable',
        cause: FOREIGN,
      },
    });

    await noLongerNew('duel');
    expect((await cli('renew', '--merchant', 'duel', '--url', replica(1).url)).out).toMatch(
      /^session +of duel was created/,
    );
    await noLongerNew('duel');
    // A refusal says that no call is left for anyone, the schedule included.
    for (const index of [0, 1]) {
      const refused = await cli('renew', '--merchant', 'duel', '--url', replica(index).url);
      expect(refused).toMatchObject({
        code: 4,
        out: expect.stringMatching(
          /^duel was not renewed: No call was made: all 4 create calls of 10 min are spent; the next is free at .* UTC \[HTTP 503, session_unavailable\]\n/,
        ),
      });
    }
    const watched =
      'Payments failed until .* UTC: somebody else created sessions; watched until .* UTC \\(runbook: foreign-authorizer\\)$';
    await agreed('duel', 'foreign_authorizer');
    await expectToldByOther('duel', 'foreign_authorizer', new RegExp(`^duel .* foreign authorizer .* ${watched}`));
    await agreed('duel', 'failing');
    const until =
      'Not renewed: all 4 create calls of 10 min are spent; the next is free at .* UTC \\(runbook: budget-exhausted\\)$';
    for (const index of [0, 1]) {
      expect((await status(index, 'duel')).line).toMatch(new RegExp(`^duel .* failing .* ${until}`));
    }
  });

  it('is told by replicas that have names of their own, although they share a host', async () => {
    const names = await Promise.all(
      watched.replicas.map(async (one, index) => {
        const { replica: name } = (await (await ask(index, '')).json()) as { replica: string };
        expect(name).toBe(`${hostname()}:${new URL(one.url).port}`);
        const page = (await (await fetch(`http://${one.management}/status.json`)).json()) as { replica: object };
        expect(page.replica).toMatchObject({ name });
        expect((await cli('status', '--url', one.url)).out).toContain(`${name}  ${one.url}\n`);
        return name;
      }),
    );
    expect(new Set(names).size).toBe(2);
  });

  it('is told by the other: that the session is dead and its share of the budget spent, until a person renews it', async () => {
    expect(await report('spent')).toMatchObject({ status: 503, body: { reason: 'budget_exhausted' } });
    await agreed('spent', 'dead');
    await expectToldByOther(
      'spent',
      'dead',
      /^spent .* dead .* Payments fail, by report: the share of the budget is spent; the next is free at /,
    );
  });

  it('is told by a replica that starts only now', async () => {
    const { process } = await watched.add();
    await eventually(async () => (await listed(2, 'spent')).condition === 'dead');
    process.signal('SIGKILL');
    await process.ended;
    watched.replicas.pop();
  });

  it('ends on both with the session that a person has the other one create', async () => {
    await noLongerNew('spent');
    const renewed = await cli('renew', '--merchant', 'spent', '--url', replica(1).url);
    expect(renewed).toMatchObject({ code: 0, out: expect.stringMatching(/^session +of spent was created\n/) });
    await agreed('spent', 'fresh');
    expect((await status(0, 'spent')).line).toMatch(/^spent .* fresh /);
    expect((await status(1, 'spent')).line).toMatch(/^spent .* fresh /);
  });

  it('is told by the other within the cool-down too, with the moment from which reports count, and ends on both', async () => {
    // Neither young nor about to be renewed on schedule.
    await eventually(async () => {
      const ageMs = await ageOf('cooled');
      return ageMs > NO_EARLY_DEATH_MS && ageMs < 2 * NO_EARLY_DEATH_MS;
    });
    expect((await report('cooled')).status).toBe(200);
    expect(await report('cooled')).toMatchObject({ status: 503, body: { reason: 'cooled_down' } });
    await agreed('cooled', 'dead');
    // Asked of the API alone: a cool-down is over in ten seconds, which a busy machine may need to start a command.
    const [, other] = await everywhere('cooled');
    expect(other).toMatchObject({
      runbook: 'rejection-storm',
      cause: expect.stringMatching(
        new RegExp('^Payments fail, by report: nothing newer has come yet; reports count again from .* UTC$'),
      ),
    });
    expect([await rejectionsOf(0, 'cooled'), await rejectionsOf(1, 'cooled')]).toEqual([1, 0]);
    await eventually(async () => (await report('cooled')).status === 200);
    await agreed('cooled', 'fresh');
  });
});
