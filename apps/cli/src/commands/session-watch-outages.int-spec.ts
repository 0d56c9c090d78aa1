import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { type Clock, plusMs, SystemClock, toRfc3339 } from '#libs/clock';
import { aSession, endedAfterEach, eventually, FakeClock, LoopbackServer, TestAuthority } from '#libs/testing';
import { exitCodes } from '../exit-codes.js';
import { runCli } from '../program.js';

const LOOK_MS = 5_000;
const RETRY_AFTER_S = '300';

/** A broker behind something that lets no stream through. Without a session it says when to come back. */
class PolledReplica {
  hasMerchant = true;
  /** The token of a caller who may read no merchant. */
  blindToken: string | undefined;
  /** The token of a caller that it does not know. */
  unknownToken: string | undefined;
  generation: number | undefined;
  /** How often it was asked for the session itself. */
  asked = 0;
  turnedAway = 0;
  #server: LoopbackServer | undefined;

  static async start(clock: Clock): Promise<PolledReplica> {
    const played = new PolledReplica();
    await played.restart(clock);
    return played;
  }

  async restart(clock: Clock): Promise<void> {
    this.#server = await LoopbackServer.http(({ url = '', headers }, response) => {
      const [status, body] = this.refusal(url, headers.authorization) ?? this.answer(url, clock);
      const retryAfter = status === 503 ? { 'retry-after': RETRY_AFTER_S } : {};
      response.writeHead(status, { 'content-type': 'application/json', ...retryAfter }).end(JSON.stringify(body));
    }, this.#server?.port);
  }

  get url(): string {
    return `http://127.0.0.1:${this.#server?.port ?? 0}`;
  }

  async close(): Promise<void> {
    await this.#server?.close();
  }

  refusal(path: string, authorization: string | undefined): [number, object] | undefined {
    if (authorization === undefined) return undefined;
    if (authorization === `Bearer ${this.unknownToken}`) return [401, problem('unauthenticated')];
    if (authorization !== `Bearer ${this.blindToken}`) return undefined;
    return path === '/v1/merchants' ? [200, { merchants: [] }] : [403, problem('forbidden')];
  }

  answer(path: string, clock: Clock): [number, object] {
    if (path === '/v1/merchants') return [200, { merchants: [this.hasMerchant ? this.#listed() : { id: 'till' }] }];
    if (!this.hasMerchant) {
      this.turnedAway += 1;
      return [404, problem('merchant_not_found')];
    }
    // What a proxy turns a stream into.
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

describe('a watch', () => {
  const started = endedAfterEach();
  // The client package uses the machine's clock.
  const clock = new FakeClock(toRfc3339(new SystemClock().now()));

  const replica = async (): Promise<PolledReplica> => started.add(await PolledReplica.start(clock), (it) => it.close());

  const home = process.cwd();
  let options: readonly string[] = [];
  beforeEach(() => {
    options = [];
  });

  interface Watching {
    readonly lines: readonly string[];
    readonly ended: Promise<number>;
    readonly has: (text: string) => Promise<void>;
  }

  function watch(...replicas: readonly Pick<PolledReplica, 'url'>[]): Watching {
    const lines: string[] = [];
    const print = (text: string): void => void lines.push(text);
    const has = (text: string): Promise<void> => eventually(() => lines.some((line) => line.includes(text)));
    const stop = new AbortController();
    const ended = runCli(['session', 'watch', '--merchant', 'shop', ...options], {
      terminal: { out: print, err: print },
      environment: { BROKER_URL: replicas.map(({ url }) => url).join(',') },
      signal: stop.signal,
      clock,
    });
    started.add(stop, (it) => (it.abort(), ended));
    return { lines, ended, has };
  }

  const IN_MINUTES = 'next try in 5m';

  it('asks at once, however long it was told to wait, when a look shows that the merchant has a session', async () => {
    const broker = await replica();
    const { has } = watch(broker);
    await has(IN_MINUTES);
    broker.generation = 7;
    await clock.advance(LOOK_MS);
    await has('  shop  generation 7  ');
  });

  it('asks the replica that has it, where the others do not know the merchant', async () => {
    const [other, broker] = [await replica(), await replica()];
    other.hasMerchant = false;
    const { lines, has } = watch(other, broker);
    await has(IN_MINUTES);
    broker.generation = 7;
    await clock.advance(LOOK_MS);
    await has('  shop  generation 7  ');
    expect(lines.join('\n')).not.toContain('no merchant');
  });

  it('tells a session that it has told before no second time', async () => {
    const broker = await replica();
    broker.generation = 7;
    const { lines, has } = watch(broker);
    await has('generation 7');
    broker.generation = undefined;
    await has(IN_MINUTES);
    broker.generation = 7;
    const { asked } = broker;
    await clock.advance(LOOK_MS);
    await eventually(() => broker.asked > asked);
    broker.generation = 8;
    await has('generation 8');
    expect(lines.filter((line) => line.includes('generation 7'))).toHaveLength(1);
  });

  it('goes on while the only replica that has the merchant restarts, and names it once', async () => {
    const [other, broker] = [await replica(), await replica()];
    other.hasMerchant = false;
    broker.generation = 7;
    const { lines, has } = watch(other, broker);
    await has('generation 7');
    await broker.close();
    await has('ECONNREFUSED');
    for (let looks = 0; looks < 2; looks += 1) {
      await clock.advance(LOOK_MS);
      await has(`\n${broker.url}, which has it: nothing listens there`);
      await has(`\n${other.url}: shop is not there, or not for this caller; it may see till`);
    }
    await broker.restart(clock);
    broker.generation = 8;
    await eventually(async () => {
      await clock.advance(LOOK_MS);
      return lines.some((line) => line.includes('generation 8'));
    });
    expect(lines.filter((line) => line.includes('Nothing is seen'))).toHaveLength(1);
    expect(lines.filter((line) => line.endsWith('shop  The broker answers again.'))).toHaveLength(1);
  });

  it.each([
    ['first', true],
    ['last', false],
  ])(
    'goes on, and says so, where from its start a replica is down, named %s, and another does not know the merchant',
    async (_where, isFirst) => {
      const [other, broker] = [await replica(), await replica()];
      other.hasMerchant = false;
      await broker.close();
      const { lines, has, ended } = watch(...(isFirst ? [broker, other] : [other, broker]));
      await has('waiting for the first session of shop: ');
      await clock.advance(LOOK_MS);
      await has(`\n${broker.url}: nothing listens there`);
      await has(`\n${other.url}: shop is not there, or not for this caller`);
      const { turnedAway } = other;
      await eventually(() => other.turnedAway > turnedAway + 1);
      expect(lines.join('\n')).not.toContain('no merchant');
      broker.hasMerchant = false;
      await broker.restart(clock);
      expect(await ended).toBe(exitCodes.invalidInput);
    },
  );

  async function tokenFile(token: string, name = 'broker.token'): Promise<string> {
    const folder = await mkdtemp(join(tmpdir(), 'watch-'));
    started.add(folder, (it) => rm(it, { recursive: true }));
    const file = join(folder, name);
    await writeFile(file, token);
    options = ['--token-file', file];
    return file;
  }

  it('goes on where its token was exchanged for one without rights, whatever it is doing, and says what to do', async () => {
    const [file, broker, other] = [await tokenFile('a-token'), await replica(), await replica()];
    [broker.blindToken, other.blindToken] = ['poor', 'poor'];
    broker.generation = 7;
    const { lines, has } = watch(broker, other);
    await has('generation 7');
    await broker.close();
    await other.close();
    await clock.advance(LOOK_MS);
    await has('Nothing is seen of the merchant:');
    await writeFile(file, 'poor');
    await broker.restart(clock);
    await other.restart(clock);
    await clock.advance(LOOK_MS);
    await has('This caller may not see the merchant any more; it may see none at all: nothing is seen of the merchant');
    await has('What to do: have session:read granted to it, or use the token of one that has it');
    await clock.advance(60_000);
    await has(', since ');
    await writeFile(file, 'a-token');
    broker.generation = 8;
    await clock.advance(LOOK_MS);
    await has('This caller may see the merchant again.');
    await has('generation 8');
    expect(lines.join('\n')).not.toContain('error:');
  });

  it('has one code and one end for a token without rights, from the start on and after it was exchanged', async () => {
    const [file, broker] = [await tokenFile('poor'), await replica()];
    options = [...options, '--json'];
    broker.blindToken = 'poor';
    const remedy = 'have session:read granted to it, or use the token of one that has it';
    const error = { code: 'no_merchant_readable', remedy };
    const first = watch(broker);
    expect(await first.ended).toBe(exitCodes.refused);
    expect(JSON.parse(first.lines.at(-1) ?? '')).toMatchObject({ event: 'ended', error: { ...error, status: 403 } });
    await writeFile(file, 'a-token');
    broker.generation = 7;
    const second = watch(broker);
    await second.has('"generation":7');
    await writeFile(file, 'poor');
    await eventually(async () => {
      await clock.advance(LOOK_MS);
      return second.lines.some((line) => line.includes('"event":"credential"'));
    });
    const told = second.lines.filter((line) => line.includes('"event":"credential"'));
    expect(JSON.parse(told[0] ?? '')).toMatchObject({ accepted: false, error });
  });

  it('asks the next replica where one does not know its token', async () => {
    await tokenFile('new');
    const [other, broker] = [await replica(), await replica()];
    other.unknownToken = 'new';
    broker.generation = 7;
    const { lines, has } = watch(other, broker);
    await has('generation 7');
    expect(lines.join('\n')).not.toMatch(/\b401\b/);
  });

  it('ends with the token where one replica does not know it, and the others do not have the merchant', async () => {
    await tokenFile('new');
    const [first, other] = [await replica(), await replica()];
    first.unknownToken = 'new';
    other.hasMerchant = false;
    for (const replicas of [
      [first, other],
      [other, first],
    ]) {
      const { lines, ended } = watch(...replicas);
      expect(await ended).toBe(exitCodes.refused);
      const [what, ...ofEach] = lines.at(-1)?.split('\n') ?? [];
      expect(what).toBe('error: no replica shows the merchant');
      expect(ofEach).toEqual(expect.arrayContaining([`${first.url}: HTTP 401: unauthenticated`]));
      expect(ofEach).toContain(`${other.url}: shop is not there, or not for this caller; it may see till`);
      expect(ofEach.join('\n')).toContain('name the token of a caller of this broker');
    }
  });

  it('ends with what is the matter with each replica, where it is not the same, and the remedy of each', async () => {
    await tokenFile('of-oncall');
    const [first, other] = [await replica(), await replica()];
    first.hasMerchant = false;
    other.blindToken = 'of-oncall';
    const inText = watch(first, other);
    expect(await inText.ended).toBe(exitCodes.invalidInput);
    const notThere = 'shop is not there, or not for this caller; it may see';
    const [NAME, GRANT] = [
      'name a merchant that session-broker status lists, or have session:read granted to this caller for the one that is named',
      'have session:read granted to it, or use the token of one that has it',
    ];
    expect(inText.lines.at(-1)?.split('\n')).toEqual([
      'error: no replica shows the merchant',
      `${first.url}: ${notThere} till`,
      `What to do: ${NAME}`,
      `${other.url}: ${notThere} none at all`,
      `What to do: ${GRANT}`,
    ]);
    options = [...options, '--json'];
    const inJson = watch(first, other);
    expect(await inJson.ended).toBe(exitCodes.invalidInput);
    const error = { code: 'forbidden', message: `${notThere} till`, remedy: NAME };
    const blind = { code: 'no_merchant_readable', message: `${notThere} none at all`, remedy: GRANT };
    expect(JSON.parse(inJson.lines.at(-1) ?? '')).toMatchObject({
      ...{ event: 'ended', merchant: 'shop', error },
      replicas: [
        { place: first.url, error },
        { place: other.url, error: blind },
      ],
    });
  });

  it('ends where none of the replicas knows its token', async () => {
    await tokenFile('new');
    const replicas = [await replica(), await replica()];
    for (const one of replicas) one.unknownToken = 'new';
    const { lines, ended } = watch(...replicas);
    expect(await ended).toBe(exitCodes.refused);
    expect(lines.at(-1)).toContain('What to do: name the token of a caller of this broker');
  });

  it('names the replica that does not know its token while the one that has accepted it does not answer, and goes on', async () => {
    await tokenFile('new');
    const [other, broker] = [await replica(), await replica()];
    other.unknownToken = 'new';
    broker.generation = 7;
    const { has } = watch(other, broker);
    await has('generation 7');
    await broker.close();
    await clock.advance(LOOK_MS);
    await has(
      `The credential is not accepted by ${other.url} (401); another replica, which does not answer, may accept it`,
    );
    await has(`Nothing is seen of the merchant: ${broker.url}, which has it: nothing listens there`);
    await broker.restart(clock);
    broker.generation = 8;
    await clock.advance(LOOK_MS);
    await has('The broker accepts the credential again.');
    await has('generation 8');
  });

  it('says why its token cannot be read where that interrupts it', async () => {
    const file = await tokenFile('a-token');
    const broker = await replica();
    broker.generation = 7;
    const { has } = watch(broker);
    await has('generation 7');
    await rm(file);
    await has(`interrupted: the token file ${file} cannot be read (ENOENT)`);
  });

  it('names the file of its token by the path at which it was read, where its name alone may be a secret', async () => {
    const file = await tokenFile('a-token', 'token');
    process.chdir(started.add(dirname(file), () => process.chdir(home)));
    options = ['--token-file', 'token'];
    const broker = await replica();
    broker.generation = 7;
    const { has } = watch(broker);
    await has('generation 7');
    await rm(file);
    await clock.advance(LOOK_MS);
    await has(`  shop  the token file ${file} cannot be read (ENOENT): `);
  });

  it('ends where a replica is back without the merchant that it had', async () => {
    const [other, broker] = [await replica(), await replica()];
    other.hasMerchant = false;
    broker.generation = 7;
    const { lines, has, ended } = watch(other, broker);
    await has('generation 7');
    await broker.close();
    await has('ECONNREFUSED');
    broker.hasMerchant = false;
    await broker.restart(clock);
    expect(await ended).toBe(exitCodes.invalidInput);
    expect(lines.at(-1)).toContain('error: there is no merchant shop');
  });

  it('ends with the look that shows a replica back without the merchant, however long the next try is away', async () => {
    const broker = await replica();
    const { lines, has } = watch(broker);
    await has(IN_MINUTES);
    await broker.close();
    await clock.advance(LOOK_MS);
    await has('nothing listens there');
    broker.hasMerchant = false;
    await broker.restart(clock);
    await clock.advance(LOOK_MS);
    await has('error: there is no merchant shop; this caller may see till');
    expect(lines.join('\n')).not.toContain('answers again');
  });

  const authority = new TestAuthority();
  const untrusted = async (): Promise<{ url: string }> => {
    const certificate = authority.issue({ names: ['127.0.0.1'] });
    const server = await LoopbackServer.https(certificate, (_request, response) => response.end());
    started.add(server, (it) => it.close());
    return { url: `https://127.0.0.1:${server.port}` };
  };
  const AUTHORITY = 'name the file with the authority that has issued it, by BROKER_CA_FILE or --ca-file';
  const RUNS = 'see whether a replica runs there, and whether --url or BROKER_URL is right (runbook: replica-down)';

  it('says of each replica what is the matter with it, with its own remedy once', async () => {
    const [stranger, down, alsoDown] = [await untrusted(), await replica(), await replica()];
    await Promise.all([down.close(), alsoDown.close()]);
    const { lines, has } = watch(stranger, down, alsoDown);
    await has('waiting for the first session of shop: ');
    await clock.advance(LOOK_MS);
    await has('Nothing is seen of the merchant:');
    const told = lines.filter((line) => line.includes('Nothing is seen')).flatMap((line) => line.split('\n'));
    expect(told).toEqual([
      expect.stringMatching(/Z {2}shop {2}Nothing is seen of the merchant:$/),
      expect.stringMatching(new RegExp(`^${stranger.url}: the certificate of .* is not trusted`)),
      `What to do: ${AUTHORITY}`,
      expect.stringMatching(new RegExp(`^${down.url}: nothing listens there \\(ECONNREFUSED`)),
      expect.stringMatching(new RegExp(`^${alsoDown.url}: nothing listens there`)),
      `What to do: ${RUNS}`,
    ]);
  });

  it('says what to do about a replica that no later call reaches, and goes on with the next one', async () => {
    const [stranger, broker] = [await untrusted(), await replica()];
    broker.generation = 7;
    const { lines, has } = watch(stranger, broker);
    await has('generation 7');
    const told = lines.find((line) => line.includes('next try'))?.split('\n');
    expect(told).toEqual([
      expect.stringMatching(
        /Z {2}waiting for the first session of shop: the certificate of 127\.0\.0\.1:\d+ is not trusted .*; next try /,
      ),
      `What to do: ${AUTHORITY}`,
    ]);
  });

  it('has an event for programs when the broker cannot be reached, and when it answers again', async () => {
    options = ['--json'];
    const broker = await replica();
    await broker.close();
    const { lines, has } = watch(broker);
    await has('waiting for the first session of shop: ');
    await clock.advance(LOOK_MS);
    await has('"event":"broker"');
    broker.generation = 7;
    await broker.restart(clock);
    await clock.advance(LOOK_MS);
    await has('"answers":true');
    const events = lines.filter((line) => line.includes('"event":"broker"')).map((line) => JSON.parse(line) as object);
    const message = expect.stringContaining('nothing listens there (ECONNREFUSED') as string;
    expect(events).toMatchObject([
      { merchant: 'shop', answers: false, error: { code: 'broker_unreachable', message, remedy: RUNS } },
      { merchant: 'shop', answers: true },
    ]);
  });

  it('has one end for programs where no replica is trusted, with what is the matter with each', async () => {
    options = ['--json'];
    const [first, second] = [await untrusted(), await untrusted()];
    const { lines, ended } = watch(first, second);
    expect(await ended).toBe(exitCodes.refused);
    const ends = lines.filter((line) => line.includes('"event":"ended"')).map((line) => JSON.parse(line) as object);
    const error = { code: 'certificate_untrusted', remedy: AUTHORITY };
    expect(ends).toMatchObject([
      {
        error,
        replicas: [
          { place: first.url, error },
          { place: second.url, error },
        ],
      },
    ]);
  });

  it('says when it was that there was no session yet, and at which replica', async () => {
    const [other, broker] = [await replica(), await replica()];
    other.hasMerchant = false;
    const { lines, has } = watch(other, broker);
    await has('no session yet');
    const told = lines.find((line) => line.includes('no session yet'));
    expect(told).toMatch(new RegExp(`^\\d{4}-\\S+Z {2}no session yet: .* \\(${broker.url}/?, merchant "shop"\\)$`));
  });
});
