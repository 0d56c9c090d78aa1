import { type Clock, SystemClock } from '#libs/clock';
import { endedAfterEach, eventually, FakeClock, freePort, LoopbackServer, TestAuthority } from '#libs/testing';
import { exitCodes } from '../exit-codes.js';
import { runCli } from '../program.js';

interface Ended {
  readonly code: number;
  readonly text: string;
}

const CREATED = { result: 'renewed', generation: 7, expiresAt: '2126-11-23T12:00:00.000Z', clientKeyThumbprint: 'tp' };

const WELL = { state: 'fresh', condition: 'fresh', reason: 'current', renewing: false, generation: 7 };

describe('renew with several replicas', () => {
  const started = endedAfterEach();
  let wishes: string[];

  beforeEach(() => {
    wishes = [];
  });

  /** A replica that has these merchants, and renews them. */
  async function having(...ids: readonly string[]): Promise<string> {
    const server = await LoopbackServer.http((request, response) => {
      const { url = '', method } = request;
      if (method === 'GET') return void response.end(JSON.stringify({ merchants: ids.map((id) => ({ id, ...WELL })) }));
      wishes.push(url);
      if (ids.some((id) => url.includes(`/${id}/`))) return void response.end(JSON.stringify(CREATED));
      const type = 'urn:session-broker:problem:merchant_not_found';
      response.writeHead(404).end(JSON.stringify({ type, code: 'merchant_not_found', title: 'None of this name' }));
    });
    started.add(server, (it) => it.close());
    return `http://127.0.0.1:${server.port}`;
  }

  async function untrusted(): Promise<string> {
    const identity = new TestAuthority().issue({ names: ['localhost'] });
    const server = await LoopbackServer.https(identity, (request, response) => {
      wishes.push(request.url ?? '');
      response.end(JSON.stringify(CREATED));
    });
    started.add(server, (it) => it.close());
    return `https://localhost:${server.port}`;
  }

  interface Renewing {
    readonly clock?: Clock;
    readonly options?: readonly string[];
  }

  async function renew(
    urls: readonly string[],
    { clock = new SystemClock(), options = [] }: Renewing = {},
  ): Promise<Ended> {
    const lines: string[] = [];
    const print = (text: string): void => void lines.push(text);
    const code = await runCli(['renew', '--merchant', 'kiosk', ...options], {
      terminal: { out: print, err: print },
      environment: { BROKER_URL: urls.join(' ') },
      signal: new AbortController().signal,
      clock,
    });
    return { code, text: lines.join('\n') };
  }

  it('asks the next one where one does not have the merchant, and names the one that has renewed it', async () => {
    const [first, second] = [await having('shop'), await having('shop', 'kiosk')];
    const missing = 'there is no merchant kiosk; this caller may see shop';
    expect(await renew([first, second])).toEqual({
      code: exitCodes.ok,
      text: [
        `not there   ${first}: ${missing}`,
        `asked       ${second}`,
        'session     of kiosk was created',
        'generation  7',
        'expires at  2126-11-23T12:00:00.000Z',
        'client key  tp',
      ].join('\n'),
    });
    expect(wishes).toHaveLength(2);
    expect(JSON.parse((await renew([first, second], { options: ['--json'] })).text)).toMatchObject({
      ok: true,
      place: second,
      notThere: [{ place: first, error: { code: 'merchant_not_found', message: missing, status: 404 } }],
    });
  });

  it('ends with the code of a wrong name only where all of them say so', async () => {
    const [first, second] = [await having('shop'), await having('till')];
    const { code, text } = await renew([first, second]);
    expect(code).toBe(exitCodes.invalidInput);
    expect(text.split('\n')).toEqual([
      `not there   ${first}: there is no merchant kiosk; this caller may see shop`,
      `asked       ${second}`,
      'Not renewed kiosk: there is no merchant kiosk; this caller may see till [HTTP 404, merchant_not_found]',
      'What to do: name a merchant that session-broker status lists',
    ]);
    const away = `http://127.0.0.1:${await freePort()}`;
    for (const urls of [
      [first, away],
      [away, first],
    ]) {
      const open = await renew(urls);
      expect(open.code).toBe(exitCodes.tryLater);
      expect(open.text).toContain(`not there   ${first}: there is no merchant kiosk`);
      expect(open.text).toContain(`not asked   ${away}: nothing listens there`);
      expect(open.text).toContain('\nWhat to do: see whether a replica runs there');
    }
  });

  it('says on a terminal for whom it waits where an answer takes long, and nothing to programs', async () => {
    const clock = new FakeClock();
    let answer = (): void => undefined;
    const server = await LoopbackServer.http(({ method }, response) => {
      if (method === 'GET') return void response.end(JSON.stringify({ merchants: [{ id: 'kiosk', ...WELL }] }));
      answer = () => response.end(JSON.stringify(CREATED));
      wishes.push('kiosk');
    });
    started.add(server, (it) => it.close());
    const url = `http://127.0.0.1:${server.port}`;
    for (const [options, said] of [
      [[], `waiting for ${url}: a create call can take half a minute\n`],
      [['--json'], ''],
    ] as const) {
      wishes = [];
      const renewing = renew([url], { clock, options });
      await eventually(() => wishes.length === 1);
      await clock.advance(2_000);
      answer();
      const { code, text } = await renewing;
      expect(code).toBe(exitCodes.ok);
      expect(text.slice(0, text.search(/^[s{]/m))).toBe(said);
    }
  });

  it('asks the next one where a certificate is not trusted, and ends with what that one says', async () => {
    const [first, second] = [await untrusted(), await having('kiosk')];
    const { code, text } = await renew([first, second]);
    expect(code).toBe(exitCodes.ok);
    expect(text).toMatch(
      /^not asked {3}https:\/\/localhost:\d+: the certificate of localhost:\d+ is not trusted.*\nasked {7}http:\/\/127\.0\.0\.1:\d+\nsession {5}of kiosk was created\n/,
    );
    expect(wishes).toHaveLength(1);
    expect(JSON.parse((await renew([first, second], { options: ['--json'] })).text)).toMatchObject({
      place: second,
      notAsked: [{ place: first, error: { code: 'certificate_untrusted' } }],
    });
  });

  it('ends with what a person has to mend, and says how, where none could be asked', async () => {
    const [first, second] = [await untrusted(), `http://127.0.0.1:${await freePort()}`];
    const { code, text } = await renew([first, second]);
    expect(code).toBe(exitCodes.refused);
    expect(text.split('\n')).toEqual([
      expect.stringContaining(`not asked   ${first}: the certificate of `),
      expect.stringContaining(`not asked   ${second}: nothing listens there`),
      expect.stringContaining('What to do: name the file with the authority that has issued it'),
      expect.stringContaining('What to do: see whether a replica runs there'),
    ]);
  });
});
