import type { ServerResponse } from 'node:http';
import { endedAfterEach, eventually, FakeClock, LoopbackServer } from '#libs/testing';
import { exitCodes } from '../exit-codes.js';
import { runCli } from '../program.js';

const NOW = '2026-11-23T12:00:00.000Z';
const ESCAPE = '\u001b';
const PROBLEM = 'urn:session-broker:problem:';

interface Told {
  readonly code: number;
  readonly out: readonly string[];
  readonly err: readonly string[];
}

/** What the played broker answers to a request, or how it ends one. */
type Answer = { readonly status?: number; readonly body: unknown } | ((response: ServerResponse) => void);

const fresh = {
  id: 'shop',
  state: 'fresh',
  condition: 'fresh',
  reason: 'current',
  renewing: false,
  renewalBlocked: false,
  generation: 7,
  expiresAt: '2026-11-23T12:41:03.000Z',
  renewAt: '2026-11-23T12:32:01.000Z',
};
const failing = {
  ...fresh,
  condition: 'failing',
  cause: 'the bank refuses: b_merchant_not_found',
  runbook: 'access-refused',
  retryAt: '2026-11-23T12:05:00.000Z',
  lastFailure: { kind: 'refused', gatewayRequestId: 'f1c7', at: NOW },
};
const listed = (replica: string, merchants: readonly unknown[], more: object = {}): Answer => ({
  body: { replica, store: 'answers', merchants, ...more },
});

describe('the commands that ask a broker', () => {
  const started = endedAfterEach();

  /** A broker that gives these answers, one after the other, and the last from then on. */
  async function played(...answers: readonly Answer[]): Promise<{ url: string; asked: string[] }> {
    const asked: string[] = [];
    const server = await LoopbackServer.http(({ method = '', url = '', headers }, response) => {
      const answer = answers[Math.min(asked.length, answers.length - 1)];
      asked.push([method, url, headers['last-event-id'] ?? ''].join(' ').trim());
      if (answer === undefined) return;
      if (typeof answer === 'function') return void answer(response);
      response.writeHead(answer.status ?? 200, { 'content-type': 'application/json' });
      response.end(JSON.stringify(answer.body));
    });
    started.add(server, (it) => it.close());
    return { url: `http://127.0.0.1:${server.port}`, asked };
  }

  interface Run {
    readonly clock?: FakeClock;
    readonly signal?: AbortSignal;
    readonly hasColours?: boolean;
    readonly told?: { readonly out: string[]; readonly err: string[] };
  }

  async function cli(args: readonly string[], urls: readonly string[], run: Run = {}): Promise<Told> {
    const { told = { out: [], err: [] }, signal = new AbortController().signal, hasColours = false } = run;
    const code = await runCli(args, {
      terminal: {
        out: (text) => void told.out.push(...text.split('\n')),
        err: (text) => void told.err.push(...text.split('\n')),
        hasColours,
      },
      environment: { BROKER_URL: urls.join(' ') },
      signal,
      clock: run.clock ?? new FakeClock(NOW),
    });
    return { code, ...told };
  }

  describe('status', () => {
    const status = async (answers: readonly Answer[], run: Run = {}): Promise<Told & { urls: readonly string[] }> => {
      const urls = (await Promise.all(answers.map((answer) => played(answer)))).map(({ url }) => url);
      const told = await cli(['status'], urls, run);
      const named = (line: string): string => urls.reduce((text, url, at) => text.replaceAll(url, `<${at}>`), line);
      return { ...told, out: told.out.map(named), urls };
    };

    it('shows every merchant as every replica sees it, the replicas of one together', async () => {
      const [other, till] = [
        { ...fresh, generation: 6 },
        { ...fresh, id: 'till', renewing: true },
      ];
      expect(await status([listed('broker-0', [fresh, till]), listed('broker-1', [other])])).toMatchObject({
        code: exitCodes.ok,
        err: [],
        out: [
          'broker-0  <0>',
          'broker-1  <1>',
          '',
          'MERCHANT  REPLICA   STATE  LEFT    NEXT               GENERATION',
          'shop      broker-0  fresh  41m 3s  renewal in 32m 1s  7',
          'shop      broker-1  fresh  41m 3s  renewal in 32m 1s  6',
          'till      broker-0  fresh  41m 3s  creating one       7',
        ],
      });
    });

    it('says once, below the table, what several replicas and merchants share', async () => {
      const [till, stale] = [
        { ...failing, id: 'till', lastFailure: { kind: 'refused' } },
        { ...fresh, condition: 'stale', cause: 'own' },
      ];
      const away = { store: 'silent', storeReason: 'ECONNREFUSED' };
      const { out, code } = await status([
        listed('broker-0', [failing, till, { ...stale, id: 'kiosk' }], away),
        listed('broker-1', [failing, till]),
      ]);
      expect(out.slice(out.lastIndexOf('') + 1)).toEqual([
        'broker-0: The store does not answer (ECONNREFUSED) (runbook: store-down)',
        'shop, till: the bank refuses: b_merchant_not_found (runbook: access-refused)',
        'kiosk at broker-0: own (runbook: -)',
        "shop: the bank's support finds the last attempt by gatewayRequestId f1c7",
      ]);
      expect(code).toBe(exitCodes.refused);
    });

    it.each<[string, object, string, number]>([
      ['held back', { condition: 'failing', renewalBlocked: true }, 'failing  41m 3s  nothing is renewed', 4],
      [
        'without a session',
        { state: 'unavailable', condition: 'unavailable', reason: 'expired', expiresAt: NOW },
        'unavailable  none since 2026-11-23 12:00:00 UTC  renewal in 32m 1s',
        4,
      ],
      ['whose bank refuses', failing, 'failing  41m 3s  attempt in 5m 0s', 3],
      ['at a wrong address', { ...failing, lastFailure: { kind: 'transient', wrongAddress: true } }, 'failing', 2],
      ['whose answer is no session', { ...failing, lastFailure: { kind: 'invalid_response' } }, 'failing', 5],
      ['that no key opens', { condition: 'dead', runbook: 'unopenable-records' }, 'dead', 5],
      ['in a condition of a later version', { condition: 'made_up' }, 'made up', 4],
    ])('ends by the state of a merchant %s', async (...[, state, shown, expected]) => {
      const { out, code } = await status([listed('broker-0', [{ ...fresh, ...state }])]);
      expect(out.join('\n').replaceAll(/ {2,}/g, '  ')).toContain(`shop  broker-0  ${shown}`);
      expect(code).toBe(expected);
    });

    it('tells of changed files, and ends with the code of a configuration that is refused', async () => {
      const configuration = {
        ...{ refusedSince: NOW, faults: 2, firstFault: 'http.port' },
        ...{ awaitingRestart: ['http.tls'], advice: 'restart in office hours', runbook: 'rotate' },
      };
      const { out, code } = await status([listed('broker-0', [fresh], { configuration })]);
      expect(out.slice(-2)).toEqual([
        `configuration: a change has been refused since ${NOW}: 2 faults, the first: http.port (runbook: config-reload-failed)`,
        'configuration: changes take effect at the next start: http.tls; restart in office hours (runbook: rotate)',
      ]);
      expect(code).toBe(exitCodes.invalidInput);
      const { refusedSince: _mended, ...waiting } = configuration;
      expect((await status([listed('broker-0', [fresh], { configuration: waiting })])).code).toBe(exitCodes.ok);
    });

    it('does not take a caller who may see nothing for one who sees that all is well', async () => {
      const { out, code } = await status([listed('broker-0', [])]);
      expect(out.slice(-2)).toEqual([
        'this caller may read no merchant',
        'What to do: grant it session:read, or use the token of a caller that has it',
      ]);
      expect(code).toBe(exitCodes.refused);
    });

    it('has for programs what each replica has answered', async () => {
      const { url } = await played(listed('broker-0', [failing], { store: 'refuses', storeReason: 'OOM' }));
      const [json = ''] = [(await cli(['status', '--json'], [url])).out.join('\n')];
      expect(JSON.parse(json)).toEqual({
        ok: false,
        replicas: [
          {
            ...{ place: url, replica: 'broker-0', merchants: [failing] },
            ...{ store: 'refuses', storeReason: 'OOM', runbook: 'store-down' },
          },
        ],
        warnings: [],
      });
    });

    it('shows states in colours on a terminal, and of the answer no sequence that a terminal would obey', async () => {
      const cause = `gone${ESCAPE}[2J${ESCAPE}]0;owned\u0007\r\nall is well\u009b1A\u202e`;
      const hostile = { ...failing, id: `sh${ESCAPE}[1Aop`, cause };
      const { out } = await status([listed(`b${ESCAPE}c`, [hostile])], { hasColours: true });
      expect(out[3]).toMatch(/^sh\uFFFD\[1Aop {2}/);
      expect(out[3]).toContain(`${ESCAPE}[33mfailing${ESCAPE}[39m  `);
      const rest = out.join('\n').replaceAll(`${ESCAPE}[33m`, '').replaceAll(`${ESCAPE}[39m`, '');
      expect(rest).not.toMatch(/[^\P{Cc}\n]|\p{Bidi_Control}/u);
      expect(out.some((line) => line.startsWith('all is well'))).toBe(false);
    });

    it('does not trip over members of other types', async () => {
      const merchant = { id: 'shop', expiresAt: 7, generation: 'x', lastFailure: null, cause: {}, retryAt: '-' };
      const { code, err } = await status([{ body: { merchants: [merchant] } }]);
      expect(err).toEqual([]);
      expect([exitCodes.refused, exitCodes.tryLater]).toContain(code);
    });
  });

  describe('renew', () => {
    const RENEW = ['renew', '--merchant', 'shop'];
    const created = { result: 'renewed', generation: 8, expiresAt: NOW, clientKeyThumbprint: 'thumb' };
    const LINES = ['generation  8', `expires at  ${NOW}`, 'client key  thumb'];
    const refusal = (status: number, code: string, more: object): Answer => ({
      status,
      body: { type: `${PROBLEM}${code}`, code, title: 'the title', ...more },
    });

    it('makes one request, and prints the session that was created', async () => {
      const { url, asked } = await played({ body: created });
      expect(await cli(RENEW, [url])).toEqual({
        code: exitCodes.ok,
        out: ['session     of shop was created', ...LINES],
        err: [],
      });
      expect(asked).toEqual(['POST /v1/merchants/shop/session/renewal']);
      const { out } = await cli([...RENEW, '--json'], [url]);
      expect(JSON.parse(out.join(''))).toEqual({ ok: true, merchant: 'shop', place: url, ...created, warnings: [] });
    });

    it('says of a session that is new already when to ask again', async () => {
      const { url } = await played({ body: { ...created, result: 'just_renewed', retryInSeconds: 4 } });
      const { code, out } = await cli(RENEW, [url]);
      expect(out).toEqual([
        'session     of shop was created within the last ten seconds already; for another one, ask again in 4 s',
        ...LINES,
      ]);
      expect(code).toBe(exitCodes.ok);
    });

    it('prints the cause, what to do and the runbook, and has code and reason for programs', async () => {
      const cause = 'the bank refuses: b_x';
      const { url, asked } = await played(
        refusal(503, 'session_unavailable', { reason: 'refused', detail: 'x', cause }),
      );
      const { code, out } = await cli(RENEW, [url]);
      expect(out).toEqual([
        `shop was not renewed: ${cause} [HTTP 503, session_unavailable]`,
        expect.stringMatching(/^What to do: compare serviceCode .* \(runbook: access-refused\)$/),
      ]);
      expect(code).toBe(exitCodes.refused);
      expect(asked).toHaveLength(1);
      expect(JSON.parse((await cli([...RENEW, '--json'], [url])).out.join(''))).toMatchObject({
        ...{ ok: false, merchant: 'shop', place: url },
        error: { code: 'session_unavailable', status: 503, reason: 'refused', runbook: 'access-refused' },
      });
    });

    it('asks nobody else where the request was sent and not answered', async () => {
      const [silent, other] = [await played(() => undefined), await played({ body: created })];
      const clock = new FakeClock(NOW);
      const ended = cli(RENEW, [silent.url, other.url], { clock });
      await eventually(() => silent.asked.length === 1);
      await clock.advance(30_000);
      expect(await ended).toEqual({
        code: exitCodes.tryLater,
        err: [`waiting for ${silent.url}: a create call can take half a minute`],
        out: [
          'shop was not renewed: no answer in time',
          'It may still have been: session-broker status shows whether shop has a newer session',
          expect.stringMatching(/^What to do: see whether a broker listens there/),
        ],
      });
      expect(other.asked).toEqual([]);
    });
  });

  describe('session watch', () => {
    const WATCH = ['session', 'watch', '--merchant', 'shop'];
    const key = { kty: 'EC', crv: 'P-384', x: 'x'.repeat(64), y: 'y'.repeat(64) };
    const session = (generation: number): object => ({
      ...{ merchant: 'shop', generation, authToken: 'canary-token', deviceId: 'canary-device', serverPublic: key },
      ...{ clientKeyThumbprint: 'thumb', createdAt: NOW, expiresAt: '2026-11-23T13:00:00.000Z', renewAt: NOW },
      ...{ expiresInMs: 3_600_000, renewInMs: 0 },
    });
    const event = (data: unknown): string => `event: session\ndata: ${JSON.stringify(data)}\n\n`;
    const streaming =
      (...events: readonly string[]): Answer =>
      (response) => {
        response.writeHead(200, { 'content-type': 'text/event-stream' });
        for (const one of ['retry: 2000\n\n', ...events]) response.write(one);
      };
    const ending =
      (...events: readonly string[]): Answer =>
      (response) => {
        response.writeHead(200, { 'content-type': 'text/event-stream' }).end(events.join(''));
      };
    const forbidden: Answer = {
      status: 403,
      body: { type: `${PROBLEM}forbidden`, code: 'forbidden', title: `N${ESCAPE}o` },
    };

    function watching(urls: readonly string[], ...options: readonly string[]) {
      const [clock, stop, told] = [
        new FakeClock(NOW),
        new AbortController(),
        { out: [] as string[], err: [] as string[] },
      ];
      const ended = cli([...WATCH, ...options], urls, { clock, signal: stop.signal, told });
      return { ...told, clock, ended, stop: () => stop.abort() };
    }

    it('prints each session once, nothing secret of it, and connects again with what it knows', async () => {
      const { url, asked } = await played(
        ending(event(session(7))),
        streaming(event(session(7)), ':\n\n', 'event: handover\ndata: {}\n\n', event(session(8))),
      );
      const { out, err, clock, ended, stop } = watching([url]);
      await eventually(() => err.length === 2);
      await clock.advance(1_000);
      await eventually(() => out.length === 2);
      stop();
      expect((await ended).code).toBe(exitCodes.ok);
      const line = (generation: number): string =>
        `shop  generation ${generation}  expires 2026-11-23T13:00:00.000Z (in 1h 0m)  client key thumb`;
      expect(out).toEqual([`${NOW}  ${line(7)}`, `2026-11-23T12:00:01.000Z  ${line(8)}`]);
      expect(err).toEqual([
        `${NOW}  following ${url}`,
        `${NOW}  interrupted: ${url}: the stream ended; trying again`,
        `2026-11-23T12:00:01.000Z  following ${url}`,
      ]);
      const path = 'GET /v1/merchants/shop/session/events';
      expect(asked).toEqual([path, `${path} 7`]);
      expect([...out, ...err].join('\n')).not.toContain('canary');
    });

    it('has one object a line for programs', async () => {
      const { url } = await played(streaming(event(session(7))));
      const { out, ended, stop } = watching([url], '--json');
      await eventually(() => out.length === 1);
      stop();
      await ended;
      const { createdAt, expiresAt, renewAt } = session(7) as Record<string, string>;
      expect(JSON.parse(out[0] ?? '')).toEqual({
        ...{ event: 'session', at: NOW, merchant: 'shop', generation: 7, createdAt, expiresAt, renewAt },
        ...{ clientKeyThumbprint: 'thumb', serverKeyThumbprint: expect.any(String) as string },
      });
    });

    it('gives up a stream that is silent, and says what trouble there is once, however often it asks', async () => {
      const overloaded = { status: 503, body: { code: 'overloaded', title: 'Too much to do' } };
      const { url, asked } = await played(streaming(), overloaded);
      const { err, clock, ended, stop } = watching([url]);
      await eventually(() => err.length === 1);
      await clock.advance(40_000);
      await eventually(() => err.length === 2);
      for (const [index, pauseMs] of [1_000, 2_000, 4_000].entries()) {
        await clock.advance(pauseMs);
        await eventually(() => asked.length === index + 2 && clock.pendingTasks === 1);
      }
      stop();
      await ended;
      expect(err.slice(1)).toEqual([
        `2026-11-23T12:00:40.000Z  interrupted: ${url}: nothing came for 40s; trying again`,
        expect.stringMatching(/interrupted: .*: Too much to do \[HTTP 503, overloaded\]; trying again$/),
      ]);
    });

    it.each<[string, Answer, RegExp]>([
      ['is not a session', streaming(event({ merchant: 'shop', generation: 'x', authToken: 'canary' })), /generation/],
      [
        'breaks off',
        (response) =>
          void response
            .writeHead(200, { 'content-type': 'text/event-stream' })
            .write(':\n\n', () => response.destroy()),
        /the stream broke off/,
      ],
    ])('goes on after an event that %s, and does not repeat it', async (_what, answer, why) => {
      const { url } = await played(answer);
      const { err, ended, stop } = watching([url]);
      await eventually(() => err.length === 2);
      stop();
      expect((await ended).code).toBe(exitCodes.ok);
      expect(err[1]).toMatch(why);
      expect(err.join('')).not.toContain('canary');
    });

    it('asks the next replica after each trouble, and ends once one refuses', async () => {
      const first = await played(ending(event(session(7))));
      const { out, err, clock, ended } = watching([first.url, (await played(forbidden)).url]);
      await eventually(() => out.length === 1 && err.length === 2);
      await clock.advance(1_000);
      const told = await ended;
      expect(told.code).toBe(exitCodes.refused);
      expect(told.err.slice(-2)).toEqual([
        'error: N\uFFFDo [HTTP 403, forbidden]',
        expect.stringMatching(/^What to do: grant it/),
      ]);
    });

    it('ends at once with the problem where the only replica refuses', async () => {
      const { url } = await played(forbidden);
      const { code, out, err } = await watching([url], '--json').ended;
      expect([code, err]).toEqual([exitCodes.refused, []]);
      expect(JSON.parse(out.join(''))).toMatchObject({
        ...{ event: 'ended', at: NOW, merchant: 'shop' },
        error: { code: 'forbidden', message: expect.stringContaining('[HTTP 403, forbidden]'), status: 403 },
      });
    });
  });
});
