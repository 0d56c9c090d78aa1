import { type Clock, instantFromEpochMs, plusMs, SystemClock, toRfc3339 } from '#libs/clock';
import { aSession, endedAfterEach, eventually, FakeClock, LoopbackServer } from '#libs/testing';
import { runCli } from '../program.js';

const LOOK_MS = 5_000;
const RETRY_AFTER_S = '300';

/** A broker in front of which no stream passes. Without a session it says when to come back. */
class PolledReplica {
  hasMerchant = true;
  generation: number | undefined;
  /** For the session alone. */
  asked = 0;
  #server: LoopbackServer | undefined;

  static async start(clock: Clock): Promise<PolledReplica> {
    const played = new PolledReplica();
    played.#server = await LoopbackServer.http(({ url = '' }, response) => {
      const [status, body] = played.answer(url, clock);
      const retryAfter = status === 503 ? { 'retry-after': RETRY_AFTER_S } : {};
      response.writeHead(status, { 'content-type': 'application/json', ...retryAfter }).end(JSON.stringify(body));
    });
    return played;
  }

  get url(): string {
    return `http://127.0.0.1:${this.#server?.port ?? 0}`;
  }

  async close(): Promise<void> {
    await this.#server?.close();
  }

  answer(path: string, clock: Clock): [number, object] {
    if (path === '/v1/merchants') return [200, { merchants: this.hasMerchant ? [this.#listed()] : [] }];
    if (!this.hasMerchant) return [404, problem('merchant_not_found')];
    // What a proxy makes of a stream.
    if (path.includes('/events')) return [200, {}];
    this.asked += 1;
    return this.generation === undefined
      ? [503, problem('session_unavailable')]
      : [200, sessionOf(this.generation, clock)];
  }

  #listed(): object {
    return this.generation === undefined
      ? { id: 'shop', state: 'unavailable', condition: 'unavailable', reason: 'no_session', renewing: false }
      : { id: 'shop', state: 'fresh', condition: 'fresh', reason: 'current', renewing: false };
  }
}

const problem = (code: string): object => ({ type: `urn:session-broker:problem:${code}`, code, title: code });

function sessionOf(generation: number, clock: Clock): object {
  const at = (ms: number): string => toRfc3339(plusMs(clock.now(), ms));
  const instants = { createdAt: at(0), expiresAt: at(900_000), renewAt: at(720_000) };
  return { ...aSession({ generation }), ...instants };
}

describe('a watch that was told to come back in some minutes', () => {
  const started = endedAfterEach();
  // The client package has the clock of the machine.
  const clock = new FakeClock(toRfc3339(instantFromEpochMs(new SystemClock().now())));

  const replica = async (): Promise<PolledReplica> => started.add(await PolledReplica.start(clock), (it) => it.close());

  function watch(...replicas: readonly PolledReplica[]): string[] {
    const lines: string[] = [];
    const print = (text: string): void => void lines.push(text);
    const stop = new AbortController();
    const ended = runCli(['session', 'watch', '--merchant', 'shop'], {
      terminal: { out: print, err: print },
      environment: { BROKER_URL: replicas.map(({ url }) => url).join(',') },
      signal: stop.signal,
      clock,
    });
    started.add(stop, (it) => (it.abort(), ended));
    return lines;
  }

  it('asks at once when a look shows that the merchant has a session', async () => {
    const broker = await replica();
    const lines = watch(broker);
    await eventually(() => lines.some((line) => line.includes('next try in 5m')));
    broker.generation = 7;
    await clock.advance(LOOK_MS);
    await eventually(() => lines.some((line) => line.includes('  shop  generation 7  ')), 5_000);
  });

  it('asks the replica that has it, where the others do not know the merchant', async () => {
    const [other, broker] = [await replica(), await replica()];
    other.hasMerchant = false;
    const lines = watch(other, broker);
    await eventually(() => lines.some((line) => line.includes('next try in 5m')));
    broker.generation = 7;
    await clock.advance(LOOK_MS);
    await eventually(() => lines.some((line) => line.includes('  shop  generation 7  ')), 5_000);
    expect(lines.join('\n')).not.toContain('no merchant');
  });

  it('tells a session that it has told before no second time', async () => {
    const broker = await replica();
    broker.generation = 7;
    const lines = watch(broker);
    await eventually(() => lines.some((line) => line.includes('generation 7')));
    broker.generation = undefined;
    await eventually(() => lines.some((line) => line.includes('next try in 5m')));
    broker.generation = 7;
    const { asked } = broker;
    await clock.advance(LOOK_MS);
    await eventually(() => broker.asked > asked, 5_000);
    broker.generation = 8;
    await eventually(() => lines.some((line) => line.includes('generation 8')));
    expect(lines.filter((line) => line.includes('generation 7'))).toHaveLength(1);
  });
});
