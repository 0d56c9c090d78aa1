import { randomBytes } from 'node:crypto';
import type { Test } from 'supertest';
import { generateClientKey, importClientKey, importPaymentKey, openJwe, sealJwe } from '#libs/jwe';
import { endedAfterAll, eventually } from '#libs/testing';
import { RawConnection } from '../egress/raw-exchange.js';
import { problem, RunningBroker, TOKENS } from './running-broker.js';

const SESSION = '/v1/merchants/shop/session';
const ENCRYPT = '/v1/merchants/shop/payloads/encrypt';
const DECRYPT = '/v1/merchants/shop/payloads/decrypt';
const OPEN = '/v1/merchants/shop/notifications/open';
const SEALED = { 'content-type': 'text/plain', 'x-encrypted_body': 'true' };
const MAX_PLAINTEXT_BYTES = 65_536;

interface Sealed {
  readonly jwe: string;
  readonly generation?: number;
}

interface Opened {
  readonly plaintext: string;
  readonly encoding: string;
}

const ask = (broker: RunningBroker, path: string, body: object | string): Test =>
  broker.as(TOKENS.payments).post(path).type('json').send(body);
const bodyOf = <Body>({ body }: { readonly body: unknown }): Body => body as Body;

const started = endedAfterAll();

describe('payloads', () => {
  let broker: RunningBroker;

  beforeAll(async () => {
    broker = started.add(await RunningBroker.start(), (it) => it.close());
    await broker.get(SESSION, { prefer: 'wait=60' });
  });

  const read = <Body>(path: string): Promise<Body> =>
    broker
      .as(TOKENS.payments)
      .get(path)
      .then(bodyOf<Body>);
  const encrypt = (body: object): Promise<Sealed> =>
    ask(broker, ENCRYPT, body)
      .expect(200)
      .expect('cache-control', 'no-store')
      .then(bodyOf<Sealed>);
  const decrypt = (body: object): Promise<Opened> =>
    ask(broker, DECRYPT, body)
      .expect(200)
      .expect('cache-control', 'no-store')
      .then(bodyOf<Opened>);

  /** The gateway opens it with its own key and code, and seals the same bytes to the client key. */
  async function throughTheGateway(jwe: string): Promise<string> {
    const session = await read<Record<string, string>>(SESSION);
    const response = await fetch(`${broker.sandboxUrl}/api-gateway/echo`, {
      method: 'POST',
      headers: {
        'x-api_version': '1',
        'content-type': 'text/plain',
        'x-device_id': session['deviceId'] ?? '',
        'x-refresh_token': session['refreshToken'] ?? '',
        authorization: `Bearer ${session['authToken']}`,
      },
      body: jwe,
    });
    return ((await response.json()) as Sealed).jwe;
  }

  /** Sealed to the current client key by someone who has its public half. */
  async function sealedToClient(plaintext: Uint8Array): Promise<string> {
    const { jwk } = await read<{ jwk: object }>('/v1/merchants/shop/client-key');
    return sealJwe(plaintext, await importPaymentKey(jwk));
  }

  it('go to the gateway and come back as they were, text and any other bytes', async () => {
    const plaintext = '{"сума":"100.00 ₴","note":"🙂\\u0000"}';
    const { jwe, generation } = await encrypt({ plaintext });
    expect(generation).toBe((await read<Sealed>(SESSION)).generation);
    expect(await decrypt({ jwe: await throughTheGateway(jwe) })).toEqual({ plaintext, encoding: 'utf8' });
    const bytes = { plaintext: randomBytes(1_000).toString('base64'), encoding: 'base64' };
    expect(await decrypt({ jwe: await throughTheGateway((await encrypt(bytes)).jwe) })).toEqual(bytes);
  });

  it('may be 64 KiB of text, however JSON escapes it, as json.dumps of Python and json_encode of PHP do', async () => {
    const escaped = '\\u0457'.repeat(MAX_PLAINTEXT_BYTES / 2);
    const { jwe } = bodyOf<Sealed>(await ask(broker, ENCRYPT, `{"plaintext":"${escaped}"}`).expect(200));
    expect(jwe.length).toBeGreaterThan((4 / 3) * MAX_PLAINTEXT_BYTES);
    const largest = await decrypt({ jwe: await sealedToClient(Buffer.alloc(MAX_PLAINTEXT_BYTES, '"')) });
    expect(largest.plaintext).toHaveLength(MAX_PLAINTEXT_BYTES);
  });

  it('are refused beyond 64 KiB', async () => {
    const plaintext = 'a'.repeat(MAX_PLAINTEXT_BYTES + 1);
    await ask(broker, ENCRYPT, { plaintext }).expect(413).expect(problem('jwe_too_large'));
    const huge = { plaintext: 'a'.repeat(400_000) };
    await ask(broker, ENCRYPT, huge).expect(413).expect(problem('payload_too_large'));
    const jwe = `${'a'.repeat(MAX_PLAINTEXT_BYTES * 1.5)}....`;
    await ask(broker, DECRYPT, { jwe }).expect(413).expect(problem('jwe_too_large'));
    await ask(broker, OPEN, { headers: {}, body: plaintext }).expect(413);
  });

  it('are sealed to another recipient when one is given, naming no generation, but never to a private key', async () => {
    const { privateJwk, publicJwk } = await generateClientKey();
    const sealed = await encrypt({ plaintext: '{"cvv":"123"}', recipient: publicJwk });
    expect(Object.keys(sealed)).toEqual(['jwe']);
    const opened = await openJwe(sealed.jwe, [await importClientKey(privateJwk)]);
    expect(Buffer.from(opened.plaintext).toString()).toBe('{"cvv":"123"}');
    const { text } = await ask(broker, ENCRYPT, { plaintext: 'a', recipient: privateJwk }).expect(400);
    expect(text).toContain('jwk_invalid');
    expect(text).not.toContain(privateJwk['d']);
  });

  describe('that came as a notification', () => {
    const operation = {
      ...{ type: 'PURCHASE', coinAmount: 100, merchantId: 'm-1', status: 'SUCCESS', novel: 'x'.repeat(60_000) },
      ecomOperationId: 'canary-operation',
    };
    const open = (notification: object): Test => ask(broker, OPEN, notification);

    it('are passed on as they are when they came in clear, and opened when they came sealed', async () => {
      const content = JSON.stringify(operation);
      const opened = { kind: 'direct_payment', content: operation };
      await open({ headers: {}, body: content }).expect(200, { ...opened, sealed: false });
      const body = await sealedToClient(Buffer.from(content));
      await open({ headers: SEALED, body }).expect(200, { ...opened, sealed: true });
    });

    it('are refused by the name of a faulty member, and by their seal', async () => {
      const unnamed = JSON.stringify({ ...operation, status: '' });
      const refused = await open({ headers: {}, body: unnamed }).expect(422).expect(problem('notification_invalid'));
      expect(refused.body).toMatchObject({ detail: 'status must be a text that is not empty' });
      await open({ headers: SEALED, body: '{}' }).expect(400).expect(problem('jwe_malformed'));
      const body = await sealedToClient(Buffer.from([0xff]));
      await open({ headers: SEALED, body }).expect(422).expect(problem('notification_invalid'));
    });
  });

  it('leave no trace in the log', () => {
    const log = broker.lines.join('');
    expect(log).toContain('jwk_invalid');
    for (const trace of ['100.00', '"cvv"', 'eyJhbGci', 'canary-operation']) expect(log).not.toContain(trace);
  });
});

describe('payloads without a session', () => {
  it('cannot be sealed to one, but can be opened and sealed to others', async () => {
    const broker = started.add(await RunningBroker.start({ faults: [{ kind: 'error', merchant: 'shop' }] }), (it) =>
      it.close(),
    );
    const refused = ask(broker, ENCRYPT, { plaintext: 'a' });
    const { headers } = await refused.expect(503).expect(problem('session_unavailable'));
    expect(Number(headers['retry-after'])).toBeGreaterThanOrEqual(1);
    const { publicJwk } = await generateClientKey();
    await ask(broker, ENCRYPT, { plaintext: 'a', recipient: publicJwk }).expect(200);
    const jwe = await sealJwe(Buffer.from('a'), await importPaymentKey(broker.olderPublicJwk));
    await ask(broker, DECRYPT, { jwe }).expect(200, { plaintext: 'a', encoding: 'utf8' });
  });
});

describe('a caller that never ends the payloads that it sends', () => {
  it('leaves places to every other caller', async () => {
    const broker = started.add(await RunningBroker.start(), (it) => it.close());
    await broker.get(SESSION, { prefer: 'wait=60' });
    const head = [
      `POST ${ENCRYPT} HTTP/1.1`,
      'Host: x',
      `Authorization: Bearer ${TOKENS.payments}`,
      'Content-Type: application/json',
      'Content-Length: 100000',
      '\r\n{',
    ].join('\r\n');
    const opened: RawConnection[] = [];
    for (let count = 0; count < 65; count += 1) {
      const connection = await RawConnection.to(broker.url);
      connection.write(head);
      opened.push(connection);
    }
    await eventually(() => opened.some(({ received }) => received.includes('"code":"overloaded"')));
    const plaintext = 'x'.repeat(50_000);
    await broker.as(TOKENS.reporting).post(ENCRYPT).type('json').send({ plaintext }).expect(200);
    expect(opened.filter(({ received }) => received !== '')).toHaveLength(1);
    for (const connection of opened) connection.vanish();
  });
});

describe('an address with more connections than it may have', () => {
  it('has the one ended that was idle for the longest', async () => {
    const setUp = { http: 'connections: { max: 40, perAddress: 30 }' };
    const broker = started.add(await RunningBroker.start(setUp), (it) => it.close());
    const opened: RawConnection[] = [];
    started.add(opened, (all) => all.forEach((connection) => connection.vanish()));
    for (let count = 0; count < 31; count += 1) opened.push(await RawConnection.to(broker.url));
    await eventually(() => opened.some(({ isClosed }) => isClosed));
    expect(opened.map(({ isClosed }) => isClosed)).toEqual([true, ...Array<boolean>(30).fill(false)]);
  });
});
