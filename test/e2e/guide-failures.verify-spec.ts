import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { type AddressInfo, createServer, type Socket } from 'node:net';
import { describeWith, endedAfterAll, endedAfterEach, freePort, LoopbackServer } from '#libs/testing';
import { type Answer, cutOff, dead, json, page, serverPublic, session, text } from './guide-answers.js';
import { type Guide, GuidePrograms, type Language } from './guide-programs.js';

const LANGUAGES: readonly Language[] = ['ts', 'python', 'sh'];
const PAYING = (['hosted-page', 'refund'] as const).flatMap((guide) =>
  LANGUAGES.map((language): [Guide, Language] => [guide, language]),
);
const WITHOUT_SDK: readonly Guide[] = ['hosted-page', 'refund'];
const WITH_SDK: [Guide, Language] = ['merchant-sdk', 'ts'];
const WITHOUT_PACKAGE = PAYING.filter(([, language]) => language !== 'ts');

const DUPLICATE = /b_duplicate_field_value.* [Tt]he bank has a request with this (?:id|merchantRequestId) already/;
const ORDER = { hppOrderId: 'order-of-the-bank', orderStatus: 'CREATED', redirectUrl: 'https://bank.example/pay' };

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
    };
  });

  function answer(request: IncomingMessage, response: ServerResponse): void {
    const found = Object.keys(answers).find((path) => request.url?.endsWith(path));
    request.resume();
    void once(request, 'end').then(() => (found === undefined ? page(404) : answers[found]!)(response));
  }

  /** What a program says about its failure. */
  async function failure(
    guide: Guide,
    language: Language,
    more: Readonly<Record<string, string>> = {},
  ): Promise<string> {
    const failed = await programs.output(guide, language, { ...env, ...more }).catch((error: unknown) => error);
    expect(failed).toHaveProperty('stderr');
    return (failed as { stderr: string }).stderr;
  }

  it.each(WITHOUT_PACKAGE)(
    'name the broker that does not answer, and that nothing was sent: %s, %s',
    async (guide, language) => {
      const BROKER_URL = `http://127.0.0.1:${await freePort()}`;
      const said = await failure(guide, language, { BROKER_URL });
      expect(said).toMatch(/^\/session: no broker answers at .* \(BROKER_URL\).* has sent nothing to the bank/m);
      expect(said).toContain(BROKER_URL);
      expect(said).toMatch(/refused|Failed to connect|connect to server/i);
      if (language === 'python') expect(said.trim().split('\n')).toHaveLength(2);
      expect(said).not.toContain('Traceback');
    },
  );

  it.each(WITHOUT_PACKAGE)(
    'say that the bank does not have what was refused, when the report of the dead session breaks off: %s, %s',
    async (guide, language) => {
      Object.assign(answers, { '/create-order': dead, '/refund': dead, '/session/rejections': cutOff });
      const said = await failure(guide, language);
      expect(said).toMatch(
        /^\/session\/rejections: no broker answers at .*b_session_doesnt_exist.*bank does not have it/m,
      );
      expect(said).not.toContain('Traceback');
    },
  );

  it.each(WITHOUT_PACKAGE)("tell a problem's detail beside its title: %s, %s", async (guide, language) => {
    const problem = { code: 'forbidden', title: 'Not allowed', detail: 'ask for session:read', requestId: 'r-1' };
    answers['/session'] = json(403, problem);
    expect(await failure(guide, language)).toMatch(
      /^the broker refuses \/session: .*forbidden.*Not allowed.*ask for session:read.*r-1.*sent nothing/m,
    );
  });

  it.each<[string, Answer]>([
    ['refuses the client key', json(403, { code: 'forbidden', detail: 'ask for the merchant' })],
    ['is a page', page(200)],
    ['is a redirect', page(302)],
  ])('say that a merchant SDK has sent nothing where the broker %s', async (_what, answered) => {
    answers['/client-key'] = answered;
    const said = await failure('merchant-sdk', 'ts');
    expect(said).toMatch(
      /no client key: (?:403 .*ask for the merchant|200|302).*nothing was sent to the bank, and it may be sent again/,
    );
    expect(said).toContain('are BROKER_URL and BROKER_TOKEN right? Is the merchant called shop there');
    expect(gateway.connections).toBe(0);
  });

  it('ask whether nothing is right where the broker says why it has no client key', async () => {
    answers['/client-key'] = json(503, { code: 'session_unavailable', cause: 'the bank is away' });
    const said = await failure('merchant-sdk', 'ts');
    expect(said).toMatch(/no client key: 503 .*the bank is away.*; nothing was sent to the bank/);
    expect(said).not.toContain('right?');
  });

  it.each<[string, Answer, RegExp]>([
    [
      'refused as not valid',
      json(400, { msgCode: 'VALIDATION_ERROR' }),
      /\nError: the gateway says to the refund, under 400, .*\[500\].*VALIDATION_ERROR.*: it was refused, while one that was sent before with the same id may be there\n/,
    ],
    [
      'one that the bank has already',
      json(200, { msgCode: 'b_duplicate_field_value' }),
      /\nError: .*b_duplicate.*: the bank has a request with this id already; keep \S+: the notification/,
    ],
    [
      'refused by a management port',
      json(404, { type: 'urn:session-broker:problem:route_not_found', code: 'route_not_found' }),
      /\nAnswerLost: The gateway answered 404\. Nobody knows/,
    ],
    [
      'one that another service refuses',
      json(404, { msgCode: 'b_service_unavailable' }),
      /\nError: the gateway says to the refund, under 404 \(is GATEWAY_URL right\?\), .*b_service_unavailable/,
    ],
    [
      'one without an answer',
      (response) => response.destroy(),
      /\nAnswerLost: .*what became of it; it is [\w-]{36}(?:; does GATEWAY_URL begin with https:\/\/\?)?\n/,
    ],
  ])('say of a refund of a merchant SDK that it is %s', async (_what, answered, says) => {
    answers['/refund'] = answered;
    expect(await failure('merchant-sdk', 'ts')).toMatch(says);
  });

  it('say of two sessions that were rejected, one after the other, what refund.md says: merchant-sdk', async () => {
    for (const [answered, reason] of [
      [dead, 'b_session_doesnt_exist'],
      [page(401), 'http_401'],
    ] as const) {
      answers['/refund'] = answered;
      const said = await failure('merchant-sdk', 'ts');
      expect(said).toMatch(new RegExp(`\nSessionRejected: The gateway rejected the session twice.*\\(${reason}\\)`));
      expect(said).toMatch(/\[cause\]: SdkError: /);
    }
  });

  it.each<[Guide, Language, string]>([
    ...WITHOUT_PACKAGE.map(([guide, language]): [Guide, Language, string] => [guide, language, 'MERCHANT_ID']),
    ...(['python', 'sh'] as const).map((it): [Guide, Language, string] => ['refund', it, 'OPERATION_ID']),
    ...['MERCHANT_ID', 'OPERATION_ID'].map((name): [Guide, Language, string] => ['merchant-sdk', 'ts', name]),
    ...(['hosted-page', 'refund', 'merchant-sdk'] as const).flatMap((guide) =>
      ['BROKER_URL', 'BROKER_TOKEN', 'GATEWAY_URL'].map((name): [Guide, Language, string] => [guide, 'ts', name]),
    ),
    ...['BROKER_URL', 'BROKER_TOKEN'].map((name): [Guide, Language, string] => ['notifications', 'ts', name]),
  ])('name what is not set: %s, %s, %s', async (guide, language, name) => {
    const said = await failure(guide, language, { [name]: name === 'OPERATION_ID' ? ' ' : '' });
    const ofPackage = /InvalidInput: (?:(?:gateway\.)?url is missing|auth is empty).*is its environment variable set\?/;
    if (language === 'ts' && WITHOUT_SDK.includes(guide)) expect(said).toMatch(ofPackage);
    else expect(said).toMatch(new RegExp(`set ${name}: |${name}: set it: `));
    expect(said).not.toContain('KeyError');
    expect(broker.connections + gateway.connections).toBe(0);
  });

  it('name an address that nobody can have: merchant-sdk', async () => {
    const noPort = 'http://127.0.0.1:99999';
    for (const [name, value, says] of [
      ['BROKER_URL', noPort, /set BROKER_URL: .*a port is 65535 at most/],
      ['GATEWAY_URL', noPort, /set GATEWAY_URL: .*a port is 65535 at most/],
      ['BROKER_URL', 'http://127.0.0.1:8080/v1/', /set BROKER_URL: it ends before \/v1.*; nothing was sent/],
    ] as const) {
      expect(await failure('merchant-sdk', 'ts', { [name]: value })).toMatch(says);
    }
  });

  it.each([...WITHOUT_PACKAGE, WITH_SDK])(
    'ask of a gateway that cuts a connection without TLS off whether its URL begins with https://: %s, %s',
    async (guide, language) => {
      const cut = (response: ServerResponse): unknown => response.destroy();
      Object.assign(answers, { '/create-order': cut, '/refund': cut });
      const said = await failure(guide, language);
      expect(said).toMatch(/does (?:it|GATEWAY_URL) begin with https:\/\/\?/);
      expect(said).toMatch(/nobody knows/i);
    },
  );

  it.each(LANGUAGES)('say that there is nowhere to send the customer to: %s', async (language) => {
    for (const redirectUrl of [undefined, null, '']) {
      answers['/create-order'] = json(200, { ...ORDER, redirectUrl });
      const said = await failure('hosted-page', language);
      expect(said).toMatch(/the bank HAS the order order-of-the-bank, but names no redirectUrl .*ask the bank/);
      expect(said).not.toMatch(/undefined|None/);
    }
  });

  it.each(WITHOUT_PACKAGE)(
    'do not ask whether an address that has answered speaks TLS: %s, %s',
    async (guide, language) => {
      const cut = (response: ServerResponse): unknown => response.destroy();
      Object.assign(answers, { '/create-order': dead, '/refund': dead, '/session/rejections': cut });
      expect(await failure(guide, language)).not.toContain('https://?');
      let asked = 0;
      const cutNext: Answer = (response) => (asked++ === 0 ? dead(response) : response.destroy());
      Object.assign(answers, { '/create-order': cutNext, '/refund': cutNext, '/session/rejections': session(2) });
      const said = await failure(guide, language);
      expect(said).toMatch(/the answer is lost.*nobody knows/);
      expect(said).not.toContain('https://?');
    },
  );

  it.each<[string, Answer]>([
    ['5xx', json(500, { msgCode: 'b_unknown_error' })],
    ['a page', page(200)],
    ['a refusal', json(200, { msgCode: 'b_hpp_order_not_found' })],
    ['a reset', (response) => response.destroy()],
    ['a 401 without a code', page(401)],
  ])('say that the bank has the order when only the question what became of it fails: %s', async (_what, fault) => {
    answers['/operations'] = fault;
    for (const language of LANGUAGES) {
      const said = await failure('hosted-page', language);
      expect(said).toMatch(
        /the bank HAS the order order-of-the-bank, and only the question .*do not send the order again/,
      );
      if (language !== 'ts') expect(said).not.toMatch(/nobody knows|does not have it|may be sent again/);
    }
  });

  it.each(PAYING)('say that nobody knows after a 5xx, a page or a reset: %s, %s', async (guide, language) => {
    const path = guide === 'refund' ? '/refund' : '/create-order';
    const faults = [
      json(500, { msgCode: 'b_unknown_error' }),
      page(200),
      page(502),
      (it: ServerResponse) => it.destroy(),
    ];
    for (const fault of faults) {
      answers[path] = fault;
      expect(await failure(guide, language)).toMatch(/nobody knows whether the bank has/i);
    }
  });

  it.each(PAYING)(
    'say of a 401 without a code that something in between may have sent it: %s, %s',
    async (guide, language) => {
      Object.assign(answers, { '/create-order': page(401), '/refund': page(401) });
      const said = await failure(guide, language);
      expect(said).toMatch(/without a code of the bank|no code of the bank/);
      expect(said).toMatch(/something in between, such as a proxy/);
      expect(said).toMatch(/does not have it by this request|bank has not carried it out/);
      expect(said).not.toContain('None');
    },
  );

  it.each(PAYING)('say that the bank has a request with this id already: %s, %s', async (guide, language) => {
    const repeated = json(200, { msgCode: 'b_duplicate_field_value' });
    Object.assign(answers, { '/create-order': repeated, '/refund': repeated });
    const MERCHANT_REQUEST_ID = randomUUID();
    const said = await failure(guide, language, { MERCHANT_REQUEST_ID });
    expect(said).toMatch(DUPLICATE);
    const findOut = language === 'ts' ? 'lookUp tells' : `(?:bank about|keep) ${MERCHANT_REQUEST_ID}`;
    expect(said).toMatch(new RegExp(findOut));
  });

  it.each(PAYING)(
    'say that nobody knows of what is no code of the bank, however it is written: %s, %s',
    async (guide, language) => {
      const bodies = [
        '{"requestId": "r", "msgCode": "b_unknown_error"}',
        '{"jwe": null}',
        '{"msgCode": ["b_x"]}',
        '{\n  "msgCode" : null\n}',
        '{"msgCode": "", "status": "ERROR"}',
        guide === 'refund' ? '{"jwe": 5}' : '{"hppOrderId": null, "status": "ERROR"}',
        guide === 'refund' ? '{"jwe": {"ciphertext": "x"}}' : '{"hppOrderId": ""}',
        '[]',
      ];
      for (const body of bodies) {
        Object.assign(answers, { '/create-order': text(body), '/refund': text(body) });
        const said = await failure(guide, language);
        expect(said).toMatch(/nobody knows whether the bank has/i);
        expect(said).not.toMatch(/does not have it|it was refused/);
      }
    },
  );

  it.each(PAYING)('say of a spaced code what it says of any: %s, %s', async (guide, language) => {
    const body = '{\n "serviceId": "gw",\n "msgCode" : "b_duplicate_field_value"\n}';
    Object.assign(answers, { '/create-order': text(body), '/refund': text(body) });
    expect(await failure(guide, language)).toMatch(DUPLICATE);
  });

  it.each(LANGUAGES.flatMap((language) => [null, ''].map((msgCode) => ({ language, msgCode }))))(
    'take an order that is pretty-printed and has a code that is none: $language, $msgCode',
    async ({ language, msgCode }) => {
      answers['/create-order'] = text(JSON.stringify({ ...ORDER, msgCode }, null, 2));
      answers['/operations'] = text(JSON.stringify({ ...ORDER, operations: null }, null, 2));
      expect(await programs.output('hosted-page', language, env)).toBe(
        'send the customer to https://bank.example/pay\norder order-of-the-bank is CREATED with 0 operations\n',
      );
    },
  );

  it.each<[Language, string, Answer]>(
    (['python', 'sh'] as const).flatMap((language): [Language, string, Answer][] => [
      [language, 'a problem', json(503, { code: 'key_unavailable', title: 'no key' })],
      [language, 'a page', page(200)],
      [language, 'a redirect', page(302)],
      [language, 'no plaintext', json(200, {})],
      [language, 'a plaintext that is no JSON', json(200, { plaintext: 'canary' })],
      [language, 'a reset', (response) => response.destroy()],
    ]),
  )(
    'say that the bank has the refund, and nothing else, when its answer is not opened: %s, %s',
    async (language, _what, answered) => {
      answers['/refund'] = json(200, { jwe: 'a.b.c.d.e' });
      answers['/payloads/decrypt'] = answered;
      const said = await failure('refund', language);
      expect(said).toMatch(/^the bank HAS the refund, but its answer was not opened: .*never send it under a new/m);
      expect(said).not.toMatch(/sent nothing|may be sent again/);
    },
  );

  it.each<[Guide, Language]>([...LANGUAGES.map((it): [Guide, Language] => ['refund', it]), ['merchant-sdk', 'ts']])(
    'say that the bank has the refund, and quote nothing, when what was opened is no JSON object: %s, %s',
    async (guide, language) => {
      answers['/refund'] = json(200, { jwe: 'a.b.c.d.e' });
      for (const plaintext of ['canary', 'null', '["canary"]']) {
        answers['/payloads/decrypt'] = json(200, { plaintext });
        const said = await failure(guide, language);
        expect(said).toMatch(
          language !== 'ts'
            ? /the bank HAS the refund, but its answer was not opened: .*never send it under a new/
            : /\nAnswerUnopened: The gateway has answered, so that the bank has the request, but .*no JSON object/,
        );
        expect(said).not.toMatch(/nobody knows|canary/i);
      }
    },
  );

  it.each<[Language, string, Answer]>(
    (['python', 'sh'] as const).flatMap((language): [Language, string, Answer][] => [
      [language, 'a page', page(200)],
      [language, 'a redirect', page(302)],
      [language, 'no JWE', json(200, { generation: 1 })],
    ]),
  )('send no refund that is not sealed: %s, %s', async (language, _what, answered) => {
    answers['/payloads/encrypt'] = answered;
    const said = await failure('refund', language);
    expect(said).toMatch(/^\/payloads\/encrypt: a (?:200|302) that is not the broker's.*has sent nothing to the bank/m);
    expect(gateway.connections).toBe(0);
  });

  it.each(PAYING.filter(([, language]) => language !== 'ts'))(
    "name a page in the place of the broker's answer as such: %s, %s",
    async (guide, language) => {
      answers['/session'] = page(502);
      expect(await failure(guide, language)).toMatch(
        /^\/session: a 502 that is not the broker's: is BROKER_URL right\?; .*has sent nothing to the bank/m,
      );
    },
  );

  it.each(PAYING)(
    'say that nothing was sent where the handshake of TLS breaks off, or is refused: %s, %s',
    async (guide, language) => {
      const alert = Buffer.from([21, 3, 3, 0, 2, 2, 40]);
      const ends = [(it: Socket) => it.end(alert)];
      // Node.js has the same code for a connection that ends before the handshake is complete and after it.
      if (language !== 'ts')
        ends.push(
          (it) => it.destroy(),
          (it) => it.resetAndDestroy(),
        );
      for (const end of ends) {
        const server = createServer(
          (socket) => void socket.on('error', () => undefined).once('data', () => end(socket)),
        );
        server.listen(0, '127.0.0.1');
        ofEach.add(server, (it) => void it.close());
        await once(server, 'listening');
        const GATEWAY_URL = `https://127.0.0.1:${(server.address() as AddressInfo).port}`;
        const said = await failure(guide, language, { GATEWAY_URL });
        expect(said).toMatch(
          /it was not sent: .*GATEWAY_URL.*may be sent again|The request was not sent, and may be sent again/,
        );
        expect(said).not.toMatch(/nobody knows/i);
      }
    },
  );

  it('ask nothing of the scheme where nothing listens: merchant-sdk', async () => {
    const nowhere = `http://127.0.0.1:${await freePort()}`;
    for (const name of ['BROKER_URL', 'GATEWAY_URL']) {
      expect(await failure('merchant-sdk', 'ts', { [name]: nowhere })).toMatch(/ECONNREFUSED(?![^]*begin with http)/);
    }
  });

  it.each(PAYING)(
    'ask whether GATEWAY_URL is right where a page says that there is nothing: %s, %s',
    async (guide, language) => {
      Object.assign(answers, { '/create-order': page(404), '/refund': page(404) });
      const said = await failure(guide, language);
      expect(said).toMatch(/is GATEWAY_URL right\?.*nobody knows|status 404, text\/html.*Nobody knows/);
    },
  );

  it('name the URL where a broker speaks no TLS, or nothing else', async () => {
    const tls = createServer((socket) => void socket.on('error', () => undefined).once('data', () => socket.destroy()));
    tls.listen(0, '127.0.0.1');
    ofEach.add(tls, (it) => void it.close());
    await once(tls, 'listening');
    const BROKER_URL = `127.0.0.1:${(tls.address() as AddressInfo).port}`;
    for (const [guide, language] of [...WITHOUT_PACKAGE, WITH_SDK]) {
      const [secure, plain] = [
        await failure(guide, language, { BROKER_URL: `https://${BROKER_URL}` }),
        await failure(guide, language, { BROKER_URL: `http://${BROKER_URL}` }),
      ];
      expect(secure).toMatch(
        /no broker answers at .*; does it begin with http:\/\/\?; .*(?:has sent nothing|nothing was sent)/,
      );
      expect(plain).toMatch(
        /no broker answers at .*; does it begin with https:\/\/\?; .*(?:has sent nothing|nothing was sent)/,
      );
    }
  });

  it.each(WITHOUT_PACKAGE)(
    'tell what a refusal is about in words of the bank, and in no more than a piece of them: %s, %s',
    async (guide, language) => {
      const errorCauses = [{ field: 'coinAmount', message: 'must be positive' }, { rest: 'x'.repeat(5_000) }];
      const refusal = { msgCode: 'VALIDATION_ERROR', msgText: 'Поле \u001b[31m is not valid', errorCauses };
      Object.assign(answers, { '/create-order': json(400, refusal), '/refund': json(400, refusal) });
      const said = await failure(guide, language);
      expect(said).toMatch(
        /400 VALIDATION_ERROR "Поле \\u001b\[31m is not valid" \[\{"field": ?"coinAmount", ?"message": ?"must be positive"\}.*one that was sent before/,
      );
      expect(said).not.toContain('\u001b');
      expect(said).not.toContain('x'.repeat(300));
    },
  );

  it.each(WITHOUT_PACKAGE)(
    'ask whether GATEWAY_URL is right where the gateway knows no such service: %s, %s',
    async (guide, language) => {
      const unknown = json(404, { msgCode: 'b_service_unavailable' });
      Object.assign(answers, { '/create-order': unknown, '/refund': unknown });
      expect(await failure(guide, language)).toMatch(/404 b_service_unavailable.*is GATEWAY_URL right\?.*may be there/);
    },
  );
});
