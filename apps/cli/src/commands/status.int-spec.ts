import { SystemClock } from '#libs/clock';
import { endedAfterEach, LoopbackServer } from '#libs/testing';
import { exitCodes } from '../exit-codes.js';
import { runCli } from '../program.js';

interface Ended {
  readonly code: number;
  readonly text: string;
}

interface Listed {
  readonly id?: string;
  readonly generation: number;
  readonly condition?: string;
  readonly cause?: string;
  readonly runbook?: string;
  readonly lastFailure?: object;
}

describe('status of several replicas', () => {
  const started = endedAfterEach();

  /** @param listed what it lists, look by look; the last entry from then on */
  async function replica(name: string, listed: readonly Listed[]): Promise<string> {
    let looks = 0;
    const server = await LoopbackServer.http((_request, response) => {
      const said = listed[Math.min(looks, listed.length - 1)];
      looks += 1;
      const merchant = { id: 'shop', state: 'fresh', condition: 'fresh', reason: 'current', renewing: false, ...said };
      response.end(JSON.stringify({ replica: name, store: 'answers', merchants: [merchant] }));
    });
    started.add(server, (it) => it.close());
    return `http://127.0.0.1:${server.port}`;
  }

  async function status(urls: readonly string[], ...options: readonly string[]): Promise<Ended> {
    const lines: string[] = [];
    const print = (text: string): void => void lines.push(text);
    const code = await runCli(['status', ...options], {
      terminal: { out: print, err: print },
      environment: { BROKER_URL: urls.join(' ') },
      signal: new AbortController().signal,
      clock: new SystemClock(),
    });
    return { code, text: lines.join('\n') };
  }

  it('names the one that is behind for longer than a hand-over takes, and is no all-clear', async () => {
    const urls = [await replica('a', [{ generation: 8 }]), await replica('b', [{ generation: 7 }])];
    const { code, text } = await status(urls);
    expect(code).toBe(exitCodes.tryLater);
    expect(text).toMatch(/\n\nshop: b holds an older session than generation 8, .* \(runbook: replicas-disagree\)$/);
    const json = JSON.parse((await status(urls, '--json')).text) as object;
    const disagreement = { merchant: 'shop', newest: 8, behind: ['b'], runbook: 'replicas-disagree' };
    expect(json).toMatchObject({ ok: false, disagreements: [disagreement] });
  });

  it("names below the tables, once for all replicas, what the bank's support asks for", async () => {
    const lastFailure = { kind: 'refused', gatewayRequestId: 'f1c7e2a0', at: '2026-11-23T11:00:00.000Z' };
    const failing = {
      generation: 7,
      condition: 'failing',
      cause: 'it refuses',
      runbook: 'access-refused',
      lastFailure,
    };
    const urls = [await replica('a', [failing]), await replica('b', [failing])];
    expect((await status(urls)).text).toMatch(
      /\(runbook: access-refused\)\n\nFor the bank's support: the last attempt for shop has the gatewayRequestId f1c7e2a0$/,
    );
    const { replicas } = JSON.parse((await status(urls, '--json')).text) as { replicas: object[] };
    expect(replicas[1]).toMatchObject({ merchants: [{ lastFailure: { gatewayRequestId: 'f1c7e2a0' } }] });
  });

  it('says nothing of one that has caught up a second later', async () => {
    const urls = [await replica('a', [{ generation: 8 }]), await replica('b', [{ generation: 7 }, { generation: 8 }])];
    const { code, text } = await status(urls);
    expect(code).toBe(exitCodes.ok);
    expect(text).not.toContain('replicas-disagree');
    expect(text.match(/ 8/g)).toHaveLength(2);
  });

  it('names the one that does not have a merchant of the other, and is no all-clear', async () => {
    const urls = [await replica('a', [{ generation: 8 }]), await replica('b', [{ id: 'kiosk', generation: 7 }])];
    const { code, text } = await status(urls);
    expect(code).toBe(exitCodes.tryLater);
    const why = 'a reload has not reached it, or its file differs (runbook: config-reload-failed)';
    expect(text).toContain(`\n\nshop is on a, not on b: ${why}\nkiosk is on b, not on a: ${why}`);
    const { partialListings } = JSON.parse((await status(urls, '--json')).text) as Record<string, unknown>;
    expect(partialListings).toContainEqual({
      merchant: 'kiosk',
      on: ['b'],
      notOn: ['a'],
      runbook: 'config-reload-failed',
    });
  });

  it('ends as with an answer that no key opens where a newer session opens with no key of a replica', async () => {
    const cause = 'a newer session (generation 8) opens with none of the keys that this replica has';
    for (const condition of ['likely_dead', 'failing']) {
      const { code, text } = await status([
        await replica('b', [{ generation: 7, condition, cause, runbook: 'unopenable-records' }]),
      ]);
      expect(text).toContain(`${cause} (runbook: unopenable-records)`);
      expect(code).toBe(exitCodes.invalidAnswer);
    }
  });
});
