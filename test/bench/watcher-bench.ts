import { connect, type Socket } from 'node:net';
import { setTimeout as pause } from 'node:timers/promises';
import { BenchBroker } from './bench-broker.js';
import type { BenchLine } from './bench-line.js';

const WATCHERS = 5_000;
const ROUNDS = 5;
/** Connections opened at one time: the system's queue of new ones is short. */
const OPENING = 100;
const COOL_DOWN_MS = 10_500;
const GOAL_MS = 120;
const GOAL_KIB = 20;

/** How soon all watchers have a new session, and what a watcher costs. */
export async function benchWatchers(): Promise<readonly BenchLine[]> {
  // Each round rejects a session that is young and good, which looks like the work of a rival.
  await using running = await BenchBroker.start({
    session: 'foreignAuthorizerPause: 10s',
    // All of them come from one address.
    http: `connections: { max: ${WATCHERS + OPENING}, perAddress: ${WATCHERS + OPENING} }`,
  });
  const watchers: SseWatcher[] = [];
  try {
    const open = async (count: number): Promise<number> => {
      while (watchers.length < count) watchers.push(...(await openWatchers(running.url, OPENING)));
      return running.broker.residentMib();
    };
    // What the first watchers make the process load and compile is not part of the cost of each.
    const mibBefore = await open(OPENING);
    const kib = (((await open(WATCHERS)) - mibBefore) / (WATCHERS - OPENING)) * 1_024;
    const rounds: { allMs: number; oneMs: number }[] = [];
    for (let round = 0; round < ROUNDS; round += 1) {
      rounds.push(await renewal(running, watchers));
      await pause(COOL_DOWN_MS);
    }
    return [
      {
        name: `rejection until ${WATCHERS} watchers have it replaced`,
        unit: 'ms',
        values: rounds.map(({ allMs }) => allMs),
        most: GOAL_MS,
      },
      {
        name: 'the same until the first of them has it, create call included',
        unit: 'ms',
        values: rounds.map(({ oneMs }) => oneMs),
      },
      { name: 'memory of a watcher', unit: 'KiB', values: [kib], most: GOAL_KIB },
    ];
  } finally {
    for (const watcher of watchers) watcher.close();
  }
}

async function renewal(
  running: BenchBroker,
  watchers: readonly SseWatcher[],
): Promise<{ allMs: number; oneMs: number }> {
  const generation = watchers[0]?.generation ?? 0;
  const arrivals = watchers.map((watcher) => watcher.newerThan(generation));
  const startedAt = performance.now();
  const rejection = fetch(`${running.sessionUrl}/rejections`, {
    method: 'POST',
    headers: { ...BenchBroker.headers, 'content-type': 'application/json' },
    body: JSON.stringify({ generation }),
  });
  const moments = await Promise.all(arrivals);
  if (!(await rejection).ok) throw new Error(`the rejection was answered ${(await rejection).status}`);
  return { allMs: Math.max(...moments) - startedAt, oneMs: Math.min(...moments) - startedAt };
}

function openWatchers(url: string, count: number): Promise<SseWatcher[]> {
  return Promise.all(
    Array.from({ length: count }, async () => {
      const watcher = new SseWatcher(url);
      await watcher.newerThan(0);
      return watcher;
    }),
  );
}

/** As small a client as possible: it shares the machine with the broker that is measured. */
class SseWatcher {
  generation = 0;
  readonly #socket: Socket;
  #awaited: { generation: number; resolve: (moment: number) => void } | undefined;

  constructor(url: string) {
    const { hostname, port, host } = new URL(url);
    this.#socket = connect(Number(port), hostname);
    const { authorization } = BenchBroker.headers;
    this.#socket.write(
      `GET /v1/merchants/shop/session/events HTTP/1.1\r\nHost: ${host}\r\nAuthorization: ${authorization}\r\n\r\n`,
    );
    this.#socket.setEncoding('latin1').on('data', (text: string) => this.#read(text));
    this.#socket.on('error', (error) => {
      throw error;
    });
  }

  /** Resolves to the moment at which it arrived. */
  newerThan(generation: number): Promise<number> {
    return new Promise((resolve) => (this.#awaited = { generation, resolve }));
  }

  close(): void {
    this.#socket.destroy();
  }

  #read(text: string): void {
    const [, id] = /\nid: (\d+)\n/.exec(text) ?? [];
    if (id === undefined) return;
    this.generation = Number(id);
    if (this.#awaited !== undefined && this.generation > this.#awaited.generation)
      this.#awaited.resolve(performance.now());
  }
}
