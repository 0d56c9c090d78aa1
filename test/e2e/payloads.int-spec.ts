import { randomBytes } from 'node:crypto';
import { generateClientKey, importClientKey, importPaymentKey, openJwe, sealJwe } from '#libs/jwe';
import { endedAfterAll, eventually } from '#libs/testing';
import { RawConnection } from '../egress/raw-exchange.js';
import { type Answer, bodyOf, problem } from './call.js';
import { RunningBroker, TOKENS } from './running-broker.js';

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

const started = endedAfterAll();

describe('payloads', () => {
  let broker: RunningBroker;

  beforeAll(async () => {
    broker = started.add(await RunningBroker.start(), (it) => it.close());
    await broker.get(SESSION, { prefer: 'wait=60' });
  });

  const stored = <Body>(answer: Answer): Body => {
    expect(answer.headers['cache-control']).toBe('no-store');
    return bodyOf<Body>(answer);
  };
  const encrypt = (body: object | string): Promise<Sealed> => broker.post(ENCRYPT, body).then(stored<Sealed>);
  const decrypt = (body: object): Promise<Opened> => broker.post(DECRYPT, body).then(stored<Opened>);

  /** The gateway opens it with its own key and code, and seals the same bytes to the client key. */
  async function throughTheGateway(jwe: string): Promise<string> {
    const session = await broker.get(SESSION).then(bodyOf<Record<string, string>>);
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
    const { jwk } = await broker.get('/v1/merchants/shop/client-key').then(bodyOf<{ jwk: object }>);
    return sealJwe(plaintext, await importPaymentKey(jwk));
  }

  it('go to the gateway and come back as they were, text and any other bytes', async () => {
    const plaintext = '{"сума":"100.00 ₴","note":"🙂\\u0000"}';
    const { jwe, generation } = await encrypt({ plaintext });
    expect(generation).toBe((await broker.get(SESSION)).body['generation']);
    expect(await decrypt({ jwe: await throughTheGateway(jwe) })).toEqual({ plaintext, encoding: 'utf8' });
    const bytes = { plaintext: randomBytes(1_000).toString('base64'), encoding: 'base64' };
    expect(await decrypt({ jwe: await throughTheGateway((await encrypt(bytes)).jwe) })).toEqual(bytes);
  });

  it('may be 64 KiB of text, however JSON escapes it, as json.dumps of Python and json_encode of PHP do', async () => {
    const escaped = '\\u0457'.repeat(MAX_PLAINTEXT_BYTES / 2);
    const { jwe } = await encrypt(`{"plaintext":"${escaped}"}`);
    expect(jwe.length).toBeGreaterThan((4 / 3) * MAX_PLAINTEXT_BYTES);
    const largest = await decrypt({ jwe: await sealedToClient(Buffer.alloc(MAX_PLAINTEXT_BYTES, '"')) });
    expect(largest.plaintext).toHaveLength(MAX_PLAINTEXT_BYTES);
  });

  it('are refused beyond 64 KiB', async () => {
    const plaintext = 'a'.repeat(MAX_PLAINTEXT_BYTES + 1);
    expect(await broker.post(ENCRYPT, { plaintext })).toMatchObject(problem(413, 'jwe_too_large'));
    const huge = { plaintext: 'a'.repeat(400_000) };
    expect(await broker.post(ENCRYPT, huge)).toMatchObject(problem(413, 'payload_too_large'));
    const jwe = `${'a'.repeat(MAX_PLAINTEXT_BYTES * 1.5)}....`;
    expect(await broker.post(DECRYPT, { jwe })).toMatchObject(problem(413, 'jwe_too_large'));
    expect((await broker.post(OPEN, { headers: {}, body: plaintext })).status).toBe(413);
  });

  it('are sealed to another recipient when one is given, naming no generation, but never to a private key', async () => {
    const { privateJwk, publicJwk } = await generateClientKey();
    const sealed = await encrypt({ plaintext: '{"cvv":"123"}', recipient: publicJwk });
    expect(Object.keys(sealed)).toEqual(['jwe']);
    const opened = await openJwe(sealed.jwe, [await importClientKey(privateJwk)]);
    expect(Buffer.from(opened.plaintext).toString()).toBe('{"cvv":"123"}');
    const { status, text } = await broker.post(ENCRYPT, { plaintext: 'a', recipient: privateJwk });
    expect([status, text]).toEqual([400, expect.stringContaining('jwk_invalid')]);
    expect(text).not.toContain(privateJwk['d']);
  });

  describe('that came as a notification', () => {
    const operation = {
      ...{ type: 'PURCHASE', coinAmount: 100, merchantId: 'm-1', status: 'SUCCESS', novel: 'x'.repeat(60_000) },
      ecomOperationId: 'canary-operation',
    };
    const open = (notification: object): Promise<Answer> => broker.post(OPEN, notification);

    it('are passed on as they are when they came in clear, and opened when they came sealed', async () => {
      const content = JSON.stringify(operation);
      const opened = { kind: 'direct_payment', content: operation };
      expect(await open({ headers: {}, body: content }).then(bodyOf)).toEqual({ ...opened, sealed: false });
      const body = await sealedToClient(Buffer.from(content));
      expect(await open({ headers: SEALED, body }).then(bodyOf)).toEqual({ ...opened, sealed: true });
    });

    it('are refused by the name of a faulty member, and by their seal', async () => {
      const unnamed = JSON.stringify({ ...operation, status: '' });
      const refused = { code: 'notification_invalid', detail: 'status must be a text that is not empty' };
      expect(await open({ headers: {}, body: unnamed })).toMatchObject({ status: 422, body: refused });
      expect(await open({ headers: SEALED, body: '{}' })).toMatchObject(problem(400, 'jwe_malformed'));
      const body = await sealedToClient(Buffer.from([0xff]));
      expect(await open({ headers: SEALED, body })).toMatchObject(problem(422, 'notification_invalid'));
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
    const refused = await broker.post(ENCRYPT, { plaintext: 'a' });
    expect(refused).toMatchObject(problem(503, 'session_unavailable'));
    expect(Number(refused.headers['retry-after'])).toBeGreaterThanOrEqual(1);
    const { publicJwk } = await generateClientKey();
    expect((await broker.post(ENCRYPT, { plaintext: 'a', recipient: publicJwk })).status).toBe(200);
    const jwe = await sealJwe(Buffer.from('a'), await importPaymentKey(broker.olderPublicJwk));
    expect(await broker.post(DECRYPT, { jwe }).then(bodyOf)).toEqual({ plaintext: 'a', encoding: 'utf8' });
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
    expect((await broker.post(ENCRYPT, { plaintext }, TOKENS.reporting)).status).toBe(200);
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
