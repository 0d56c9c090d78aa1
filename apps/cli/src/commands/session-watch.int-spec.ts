import type { ServerResponse } from 'node:http';
import { SystemClock, toRfc3339 } from '#libs/clock';
import { endedAfterEach, eventually, FakeClock, LoopbackServer } from '#libs/testing';
import { exitCodes } from '../exit-codes.js';
import { runCli } from '../program.js';

const SHOP = { id: 'shop', state: 'unavailable', condition: 'unavailable', reason: 'no_session', renewing: true };
const PROBLEM = 'urn:session-broker:problem:';

/** A broker that follows a merchant without a session, until a reload removes it. */
class PlayedReplica {
  readonly #streams = new Set<ServerResponse>();
  readonly #server: LoopbackServer;
  /** A merchant that no reload removes. */
  readonly #other: string;
  #hasMerchant = true;

  private constructor(
    start: (play: (path: string, response: ServerResponse) => void) => LoopbackServer,
    other: string,
  ) {
    this.#other = other;
    this.#server = start((path, response) => this.#answer(path, response));
  }

  static async start(other = 'till'): Promise<PlayedReplica> {
    let play: ((path: string, response: ServerResponse) => void) | undefined;
    const server = await LoopbackServer.http((request, response) => play?.(request.url ?? '', response));
    return new PlayedReplica((answer) => {
      play = answer;
      return server;
    }, other);
  }

  get url(): string {
    return `http://127.0.0.1:${this.#server.port}`;
  }

  get isFollowed(): boolean {
    return this.#streams.size > 0;
  }

  takeAway(): void {
    this.#hasMerchant = false;
    for (const stream of this.#streams) stream.end();
    this.#streams.clear();
  }

  close(): Promise<void> {
    return this.#server.close();
  }

  #answer(path: string, response: ServerResponse): void {
    if (path === '/v1/merchants') {
      const other = { ...SHOP, id: this.#other };
      const merchants = this.#hasMerchant ? [SHOP, other] : [other];
      response.end(JSON.stringify({ merchants }));
    } else if (!this.#hasMerchant) this.#refuse(response, 403, 'forbidden');
    else if (path.includes('/events')) {
      response.writeHead(200, { 'content-type': 'text/event-stream' }).write(': here\n\n');
      this.#streams.add(response);
    } else this.#refuse(response, 503, 'session_unavailable');
  }

  #refuse(response: ServerResponse, status: number, code: string): void {
    // Without this header, whoever asks for a session waits for one before it follows.
    const retryAfter = status === 503 ? { 'retry-after': '300' } : {};
    response.writeHead(status, { 'content-type': 'application/problem+json', ...retryAfter });
    response.end(JSON.stringify({ type: PROBLEM + code, code, title: 'The caller may not do this', detail: code }));
  }
}

const LOOK_MS = 5_000;

describe('a watch whose merchant is taken away by a reload', () => {
  const started = endedAfterEach();
  // The client package uses the machine's clock.
  const clock = new FakeClock(toRfc3339(new SystemClock().now()));

  const replica = async (other?: string): Promise<PlayedReplica> =>
    started.add(await PlayedReplica.start(other), (it) => it.close());

  function watch(url: string, ...options: readonly string[]): { lines: string[]; ended: Promise<number> } {
    const lines: string[] = [];
    const print = (text: string): void => void lines.push(text);
    const ended = runCli(['session', 'watch', '--merchant', 'shop', ...options], {
      terminal: { out: print, err: print },
      environment: { BROKER_URL: url },
      signal: started.add(new AbortController(), (it) => it.abort()).signal,
      clock,
    });
    return { lines, ended };
  }

  it('ends as one of a merchant that was never there, and tells it once', async () => {
    const broker = await replica();
    const { lines, ended } = watch(broker.url);
    await eventually(() => broker.isFollowed);
    broker.takeAway();
    expect(await ended).toBe(exitCodes.invalidInput);
    expect(lines.filter((line) => line.includes('merchant shop'))).toEqual([
      'error: there is no merchant shop, or this caller may not see it; it may see till\nWhat to do: name a merchant that session-broker status lists, or have session:read granted to this caller for the one that is named',
    ]);
    expect(lines.join('\n')).not.toMatch(/\b403\b/);
  });

  it('goes on with the next replica where one does not have it, and names that one', async () => {
    const [first, second] = [await replica(), await replica()];
    first.takeAway();
    const { lines } = watch(`${first.url} ${second.url}`);
    await eventually(() => second.isFollowed);
    await eventually(() => lines.some((line) => line.endsWith(`following by events at ${second.url}`)));
    expect(lines.join('\n')).not.toContain('no merchant shop');
  });

  it.each([
    ['goes on with another one', (first: PlayedReplica) => first.takeAway()],
    ['is served by the one that it follows all along', () => undefined],
  ])('tells, where it %s, which replicas do not serve it', async (_how, change) => {
    const [first, second, third] = [await replica(), await replica(), await replica()];
    third.takeAway();
    const { lines } = watch(`${first.url} ${second.url} ${third.url}`);
    await eventually(() => first.isFollowed);
    change(first);
    await eventually(async () => {
      await clock.advance(LOOK_MS);
      return lines.some((line) => line.includes(`\n${third.url}: shop is not there`));
    });
    const expected = /Z {2}shop {2}\S+ serves the merchant, while another one does not:\n/;
    expect(lines.find((line) => line.includes(third.url))).toMatch(expected);
  });

  it('names the merchants of all the replicas that do not have it', async () => {
    const [first, second] = [await replica('till'), await replica('kiosk')];
    first.takeAway();
    second.takeAway();
    const { lines, ended } = watch(`${first.url} ${second.url}`);
    expect(await ended).toBe(exitCodes.invalidInput);
    expect(lines.at(-1)).toContain(
      'error: there is no merchant shop, or this caller may not see it; it may see till, kiosk\n',
    );
  });

  it('ends, too, at a port to which no request goes, and says so', async () => {
    const { lines, ended } = watch('http://127.0.0.1:6000');
    expect(await ended).toBe(exitCodes.invalidInput);
    expect(lines.at(-1)).toBe(
      'error: the Fetch standard lets no request go to that port: what listens there needs another one (127.0.0.1:6000)\nWhat to do: correct --url, or BROKER_URL, where the broker has another port',
    );
  });

  it('ends with the code of a wrong address where a path is given, and says which one to give', async () => {
    const broker = await replica();
    const { lines, ended } = watch(`${broker.url}/v1/`);
    expect(await ended).toBe(exitCodes.invalidInput);
    expect(lines.at(-1)).toContain(`\nWhat to do: correct --url, or BROKER_URL: give the address alone, ${broker.url}`);
  });

  it('has the code of a wrong address for programs, whoever answers there', async () => {
    const stranger = await LoopbackServer.http((_request, response) => response.writeHead(404).end());
    started.add(stranger, (it) => it.close());
    const { lines, ended } = watch(`http://127.0.0.1:${stranger.port}`, '--json');
    expect(await ended).toBe(exitCodes.invalidInput);
    expect(JSON.parse(lines.at(-1) ?? '')).toMatchObject({ event: 'ended', error: { code: 'wrong_address' } });
  });

  it('has it for programs as its last line', async () => {
    const broker = await replica();
    broker.takeAway();
    const { lines, ended } = watch(broker.url, '--json');
    expect(await ended).toBe(exitCodes.invalidInput);
    expect(lines).toHaveLength(1);
    expect(JSON.parse(lines[0] ?? '')).toEqual({
      event: 'ended',
      at: expect.stringMatching(/Z$/) as string,
      merchant: 'shop',
      error: {
        code: 'forbidden',
        message: 'there is no merchant shop, or this caller may not see it; it may see till',
        status: 403,
        remedy:
          'name a merchant that session-broker status lists, or have session:read granted to this caller for the one that is named',
      },
    });
  });
});
