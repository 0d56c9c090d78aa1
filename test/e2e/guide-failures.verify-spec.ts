import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { type AddressInfo, createServer, type Socket } from 'node:net';
import { describeWith, endedAfterAll, endedAfterEach, freePort, LoopbackServer } from '#libs/testing';
import { type Answer, cutOff, dead, json, page, serverPublic, session, text } from './guide-answers.js';
import { type Guide, GuidePrograms, type Language } from './guide-programs.js';

/** Those in TypeScript say what the client package says, whose own tests have that. */
const PROGRAMS = (['hosted-page', 'refund'] as const).flatMap((guide) =>
  (['python', 'sh'] as const).map((language): [Guide, Language] => [guide, language]),
);

const ORDER = { hppOrderId: 'order-of-the-bank', orderStatus: 'CREATED', redirectUrl: 'https://bank.example/pay' };
const REFUSAL = {
  msgCode: 'VALIDATION_ERROR',
  msgText: 'Поле \u001b[31m is not valid',
  errorCauses: [{ field: 'coinAmount', message: 'must be positive' }, { rest: 'x'.repeat(5_000) }],
};
const REFUSED =
  /400 VALIDATION_ERROR "Поле \\u001b\[31m is not valid" \[\{"field": ?"coinAmount", ?"message": ?"must be positive"\}.*one that was sent before/;
const reset: Answer = (response) => response.destroy();

/** Answers to a payment after which nobody knows what became of it. */
const UNKNOWN: readonly [string, Answer, RegExp?][] = [
  ['an error that is no refusal', json(500, { msgCode: 'b_system_error' }), /500 b_system_error is no refusal/],
  ['a code that says nothing', json(400, { msgCode: 'b_unknown_error' }), /400 b_unknown_error is no refusal/],
  ['a page', page(200)],
  ['the page of a firewall', page(403), /403 is no answer of the gateway/],
  ['a page that says that there is nothing', page(404), /is GATEWAY_URL right\?/],
  ['a reset', reset, /begin with https:\/\/\?/],
  ['nothing', text('')],
  ['a list', text('["jwe"]')],
  ['a code that is none', text('{\n  "msgCode" : null\n}')],
  ['a list of codes', text('{"msgCode": ["b_x"]}')],
  ['no text where it should be', text('{"jwe": 5, "hppOrderId": null, "status": "ERROR"}')],
];

describeWith(['curl', 'jq', 'python3'], 'the programs of the guides, when something fails', () => {
  let programs: GuidePrograms;
  let broker: LoopbackServer;
  let gateway: LoopbackServer;
  let env: Readonly<Record<string, string>>;
  /** By the end of the path: what the broker or the gateway answers. */
  let answers: Record<string, Answer>;

  const started = endedAfterAll();
  beforeAll(async () => {
    programs = started.add(await GuidePrograms.copied(), (it) => it.remove());
  });

  const ofEach = endedAfterEach();
  beforeEach(async () => {
    answers = {
      '/client-key': json(200, { jwk: serverPublic }),
      '/session': session(1),
      '/session/rejections': session(2),
      '/payloads/encrypt': json(200, { jwe: 'a.b.c.d.e', generation: 1 }),
      '/create-order': json(200, ORDER),
    };
    broker = ofEach.add(await LoopbackServer.http(answer), (it) => it.close());
    gateway = ofEach.add(await LoopbackServer.http(answer), (it) => it.close());
    env = {
      BROKER_URL: `http://127.0.0.1:${broker.port}`,
      BROKER_TOKEN: 'token',
      GATEWAY_URL: `http://127.0.0.1:${gateway.port}`,
      MERCHANT_ID: 'terminal-1',
      OPERATION_ID: randomUUID(),
      MERCHANT_REQUEST_ID: 'kept-1',
    };
  });

  function answer(request: IncomingMessage, response: ServerResponse): void {
    const found = Object.keys(answers).find((path) => request.url?.endsWith(path));
    request.resume();
    void once(request, 'end').then(() => (found === undefined ? page(404) : answers[found]!)(response));
  }
  const answerPayment = (answered: Answer): void => {
    Object.assign(answers, { '/create-order': answered, '/refund': answered });
  };
  /** Sends whoever follows to somebody who is not asked for anything. */
  const redirect = async (): Promise<{ elsewhere: LoopbackServer; redirecting: Answer }> => {
    const elsewhere = ofEach.add(await LoopbackServer.http(answer), (it) => it.close());
    const location = `http://127.0.0.1:${elsewhere.port}/`;
    return { elsewhere, redirecting: (response) => response.writeHead(307, { location }).end() };
  };

  /** What a program says about its failure. */
  async function failure(
    guide: Guide,
    language: Language,
    more: Readonly<Record<string, string>> = {},
  ): Promise<string> {
    const failed = await programs.output(guide, language, { ...env, ...more }).catch((error: unknown) => error);
    expect(failed).toHaveProperty('stderr');
    const { stderr } = failed as { stderr: string };
    expect(stderr).not.toMatch(/Traceback|KeyError|None\b/);
    return stderr;
  }

  describe.each(PROGRAMS)('%s, %s', (guide, language) => {
    it.each<[string, string, string]>([
      ['BROKER_URL', '', 'set BROKER_URL: it begins with http://'],
      ['GATEWAY_URL', '', 'set GATEWAY_URL: it begins with http://'],
      ['BROKER_TOKEN', 'canary\nof-a-token', 'set BROKER_TOKEN: '],
      ['MERCHANT_ID', ' ', 'set MERCHANT_ID: '],
      ...(guide === 'refund' ? [['OPERATION_ID', ' ', 'set OPERATION_ID: '] as [string, string, string]] : []),
    ])('asks for %s where it is %j, and sends nothing', async (name, value, says) => {
      const said = await failure(guide, language, { [name]: value });
      expect(said).toContain(says);
      expect(said).not.toContain('canary');
      expect(broker.connections + gateway.connections).toBe(0);
    });

    it('names the broker that does not answer, and says that nothing was sent', async () => {
      const BROKER_URL = `http://127.0.0.1:${await freePort()}`;
      const said = await failure(guide, language, { BROKER_URL });
      expect(said).toMatch(/^\/session: no broker answers at .* \(BROKER_URL\).* has sent nothing to the bank/m);
      expect(said).toContain(BROKER_URL);
    });

    it('asks for http:// where a broker speaks no TLS', async () => {
      const said = await failure(guide, language, { BROKER_URL: `https://127.0.0.1:${broker.port}` });
      expect(said).toMatch(/no broker answers at .*; does it begin with http:\/\/\?; .*has sent nothing/);
    });

    it('tells what the broker refuses, and that nothing was sent', async () => {
      const problem = { code: 'forbidden', title: 'Not allowed', detail: 'ask for session:read', requestId: 'r-1' };
      answers['/session'] = json(403, problem);
      expect(await failure(guide, language)).toMatch(
        /^the broker refuses \/session: .*forbidden.*Not allowed.*ask for session:read.*r-1.*sent nothing/m,
      );
    });

    it("says of a page in the place of the broker's answer that it is one", async () => {
      answers['/session'] = page(502);
      expect(await failure(guide, language)).toMatch(
        /^\/session: a 502 that is not the broker's: is BROKER_URL right\?; .*has sent nothing to the bank/m,
      );
    });

    it('follows no redirect of the broker or of the gateway', async () => {
      const { elsewhere, redirecting } = await redirect();
      answerPayment(redirecting);
      expect(await failure(guide, language)).toMatch(/307.*nobody knows/);
      expect(gateway.connections).toBe(1);
      answers['/session'] = redirecting;
      expect(await failure(guide, language)).toContain("a 307 that is not the broker's");
      expect(elsewhere.connections).toBe(0);
    });

    it('says that a payment was not sent to a gateway that nobody listens at, or where TLS breaks off', async () => {
      const ends: readonly ((socket: Socket) => unknown)[] = [
        (it) => it.end(Buffer.from([21, 3, 3, 0, 2, 2, 40])),
        (it) => it.destroy(),
      ];
      const urls = [`http://127.0.0.1:${await freePort()}`, `https://127.0.0.1:${gateway.port}`];
      for (const end of ends) {
        const server = createServer(
          (socket) => void socket.on('error', () => undefined).once('data', () => end(socket)),
        );
        server.listen(0, '127.0.0.1');
        ofEach.add(server, (it) => void it.close());
        await once(server, 'listening');
        urls.push(`https://127.0.0.1:${(server.address() as AddressInfo).port}`);
      }
      for (const GATEWAY_URL of urls) {
        const said = await failure(guide, language, { GATEWAY_URL });
        expect(said).toMatch(/^it was not sent: .*GATEWAY_URL.*may be sent again/m);
        expect(said).not.toMatch(/nobody knows/i);
      }
    });

    it.each(UNKNOWN)('says that nobody knows, and which id to keep, after %s', async (_what, answered, why = /./) => {
      answerPayment(answered);
      const said = await failure(guide, language);
      expect(said).toMatch(/nobody knows whether the bank has .*keep kept-1\b.* under a new merchantRequestId/);
      expect(said).toMatch(why);
      expect(said).not.toMatch(/does not have it|it was refused|the gateway says|a page/);
      expect(gateway.connections).toBe(1);
    });

    it.each<[string, Answer, RegExp]>([
      ['it is refused', json(400, REFUSAL), REFUSED],
      [
        'the gateway knows no such service',
        json(404, { msgCode: 'b_service_unavailable' }),
        /404 b_service_unavailable.*is GATEWAY_URL right\?.*may be there/,
      ],
      [
        'the bank has a request with its id',
        text('{\n "msgCode" : "b_duplicate_field_value"\n}'),
        /b_duplicate_field_value.* the bank has a request with this id already.* (?:bank about|keep) kept-1/,
      ],
      [
        'the session is dead, by no code of the bank',
        page(401),
        /(?:without a code of the bank|no code of the bank).*does not have it by this request.*something in between/,
      ],
    ])('says what became of a payment when %s', async (_what, answered, says) => {
      answerPayment(answered);
      const said = await failure(guide, language);
      expect(said).toMatch(says);
      expect(said).toMatch(/^sending the \w+ kept-1$/m);
      expect(said).not.toMatch(/nobody knows|x{300}/);
      expect(said).not.toContain('\u001b');
    });

    it('says that the bank does not have what was refused, when the report of the dead session breaks off', async () => {
      answerPayment(dead);
      answers['/session/rejections'] = cutOff;
      expect(await failure(guide, language)).toMatch(
        /^\/session\/rejections: no broker answers at .*b_session_doesnt_exist.*bank does not have it/m,
      );
    });

    it('says that nobody knows where the second answer is lost', async () => {
      let asked = 0;
      answerPayment((response) => (asked++ === 0 ? dead(response) : response.destroy()));
      const said = await failure(guide, language);
      expect(said).toMatch(/the answer is lost.*nobody knows/);
      expect(said).not.toContain('https://?');
    });
  });

  describe.each<Language>(['python', 'sh'])('in %s', (language) => {
    it('an order that has nowhere to send the customer to is one that the bank has', async () => {
      answers['/create-order'] = json(200, { ...ORDER, redirectUrl: null });
      expect(await failure('hosted-page', language)).toMatch(
        /the bank HAS the order order-of-the-bank, but names no redirectUrl .*ask the bank/,
      );
    });

    it.each<[string, Answer]>([
      ['an error', json(500, { msgCode: 'b_unknown_error' })],
      ['a refusal', json(200, { msgCode: 'b_hpp_order_not_found' })],
      ['a reset', reset],
      ['a 401 without a code', page(401)],
    ])(
      'an order of which only the question what became of it fails is one that the bank has: %s',
      async (_what, it) => {
        answers['/operations'] = it;
        const said = await failure('hosted-page', language);
        expect(said).toMatch(
          /the bank HAS the order order-of-the-bank, and only the question .*do not send the order again/,
        );
        expect(said).not.toMatch(/nobody knows|does not have it|may be sent again/);
      },
    );

    it('an order is taken that is pretty-printed and has a code that is none', async () => {
      answers['/create-order'] = text(JSON.stringify({ ...ORDER, msgCode: '' }, null, 2));
      answers['/operations'] = text(JSON.stringify({ ...ORDER, operations: null }, null, 2));
      expect(await programs.output('hosted-page', language, env)).toBe(
        'send the customer to https://bank.example/pay\norder order-of-the-bank is CREATED with 0 operations\n',
      );
    });

    it.each<[string, Answer]>([
      ['a problem', json(503, { code: 'key_unavailable', title: 'no key', requestId: 'r-1' })],
      ['a page', page(200)],
      ['no plaintext', json(200, {})],
      ['a plaintext that is no JSON', json(200, { plaintext: 'canary' })],
      ['a plaintext that is no object', json(200, { plaintext: '["canary"]' })],
      ['a reset', reset],
    ])('a refund whose answer is not opened is one that the bank has: %s', async (_what, answered) => {
      answers['/refund'] = json(200, { jwe: 'a.b.c.d.e' });
      answers['/payloads/decrypt'] = answered;
      const said = await failure('refund', language);
      expect(said).toMatch(/^the bank HAS the refund, but its answer was not opened: .*never send it under a new/m);
      expect(said).not.toMatch(/sent nothing|may be sent again|nobody knows|canary/);
    });

    it.each<[string, Answer]>([
      ['a page', page(200)],
      ['no JWE', json(200, { generation: 1 })],
    ])('a refund that is not sealed is not sent: %s', async (_what, answered) => {
      answers['/payloads/encrypt'] = answered;
      expect(await failure('refund', language)).toMatch(
        /^\/payloads\/encrypt: a 200 that is not the broker's.*has sent nothing to the bank/m,
      );
      expect(gateway.connections).toBe(0);
    });
  });

  describe('a refund by a merchant SDK', () => {
    const said = (more: Readonly<Record<string, string>> = {}): Promise<string> => failure('merchant-sdk', 'ts', more);

    it.each(['BROKER_URL', 'BROKER_TOKEN', 'GATEWAY_URL', 'MERCHANT_ID', 'OPERATION_ID'])(
      'names what is not set: %s',
      async (name) => {
        expect(await said({ [name]: '' })).toMatch(new RegExp(`set ${name}: |${name}: set it: `));
        expect(broker.connections + gateway.connections).toBe(0);
      },
    );

    it.each<[string, Answer, RegExp]>([
      ['refuses the client key', json(403, { code: 'forbidden', detail: 'ask for the merchant' }), /403 .*ask for the/],
      ['is a page', page(200), /200/],
      ['is a redirect', page(302), /302/],
    ])('is not sent where the broker %s', async (_what, answered, why) => {
      answers['/client-key'] = answered;
      const told = await said();
      expect(told).toMatch(/no client key: .*nothing was sent to the bank, and it may be sent again/);
      expect(told).toMatch(why);
      expect(gateway.connections).toBe(0);
    });

    it('is not sent where no broker or no gateway listens', async () => {
      const nowhere = `http://127.0.0.1:${await freePort()}`;
      expect(await said({ BROKER_URL: nowhere })).toContain(
        `no client key: no broker answers at BROKER_URL (${nowhere}); nothing was sent to the bank`,
      );
      expect(await said({ GATEWAY_URL: nowhere })).toMatch(
        /GatewayUnreachable: The gateway cannot be reached: ECONNREFUSED/,
      );
    });

    it.each<[string, Answer, RegExp]>([
      [
        'refused',
        json(400, { msgCode: 'VALIDATION_ERROR' }),
        /\nError: the gateway says to the refund, under 400, .*VALIDATION_ERROR.*: it was refused, while one that was sent before with the same id may be there\n/,
      ],
      [
        'one that the bank has already',
        json(200, { msgCode: 'b_duplicate_field_value' }),
        /\nError: .*b_duplicate.*: the bank has a request with this id already; keep kept-1: the notification/,
      ],
      [
        'refused by a management port',
        json(404, { type: 'urn:session-broker:problem:route_not_found', code: 'route_not_found' }),
        /\nAnswerLost: The gateway answered 404\. Nobody knows/,
      ],
      ['one without an answer', reset, /\nAnswerLost: .*what became of it; it is kept-1/],
      ['one whose session is dead twice', dead, /\nSessionRejected: The gateway rejected the session twice/],
    ])('is told to be %s', async (_what, answered, says) => {
      answers['/refund'] = answered;
      expect(await said()).toMatch(says);
    });

    it('is one that the bank has where what was opened is no JSON object, which is not quoted', async () => {
      answers['/refund'] = json(200, { jwe: 'a.b.c.d.e' });
      for (const plaintext of ['canary', '["canary"]']) {
        answers['/payloads/decrypt'] = json(200, { plaintext });
        const told = await said();
        expect(told).toMatch(/\nAnswerUnopened: The gateway has answered, so that the bank has the request, but /);
        expect(told).not.toMatch(/nobody knows|canary/i);
      }
    });
  });

  describe('a notification', () => {
    it('is not opened by a broker who refuses, or without a token: sh', async () => {
      const NOTIFICATION_FILE = '/dev/null';
      answers['/notifications/open'] = json(403, { code: 'forbidden' });
      expect(await failure('notifications', 'sh', { NOTIFICATION_FILE })).toMatch(
        /^the broker refuses \/notifications\/open: .*"forbidden"/m,
      );
      const told = await failure('notifications', 'sh', { NOTIFICATION_FILE, BROKER_TOKEN: 'canary\nof-a-token' });
      expect(told).toMatch(/^set BROKER_TOKEN: /m);
      expect(told).not.toContain('canary');
    });

    it.each<Language>(['ts', 'python'])(
      'is not acknowledged while no broker listens, or one that sends elsewhere: %s',
      async (language) => {
        const { elsewhere, redirecting } = await redirect();
        answers['/notifications/open'] = redirecting;
        for (const BROKER_URL of [`http://127.0.0.1:${await freePort()}`, env['BROKER_URL'] ?? '']) {
          const receiver = await programs.start('notifications', language, { ...env, BROKER_URL });
          ofEach.add(receiver, (it) => it.end());
          const url = `http://127.0.0.1:${receiver.lines[0]?.replace('port ', '')}/`;
          expect((await fetch(url, { method: 'POST', body: '{}' })).status).toBe(503);
        }
        expect(elsewhere.connections).toBe(0);
      },
    );
  });
});
