import { get, type IncomingMessage } from 'node:http';
import { connect } from 'node:net';
import { once } from 'node:events';
import { SystemClock } from '#libs/clock';
import { endedAfterEach } from '#libs/testing';
import type { EgressReadiness } from './egress-readiness.js';
import { type Management, openManagement } from './management-server.js';

const READY: EgressReadiness = { ready: true, shuttingDown: false, merchants: [{ merchant: 'shop', ready: true }] };

describe('the management port of the egress', () => {
  let readiness: () => EgressReadiness;
  let management: Management;

  const open = (port = 0): Promise<Management> =>
    openManagement({
      address: { host: '127.0.0.1', port },
      hosts: ['egress.shop.example'],
      readiness: () => readiness(),
      telemetry: { scrape: (_request, response) => void response.end('metrics 1\n') },
      clock: new SystemClock(),
      onEnd: () => undefined,
    });

  const started = endedAfterEach();
  beforeEach(async () => {
    readiness = () => READY;
    management = started.add(await open(), (it) => it.close());
  });

  const ask = (path: string, init: RequestInit = {}): Promise<Response> => fetch(management.url + path, init);

  it('says that the process is alive, whatever else is wrong', async () => {
    readiness = () => ({ ...READY, ready: false });
    const response = await ask('/livez');
    expect([response.status, await response.json()]).toEqual([200, { alive: true }]);
    expect(response.headers.get('cache-control')).toBe('no-store');
  });

  it('says whether requests may be sent here, and which merchant is in the way', async () => {
    const ready = await ask('/readyz?verbose');
    expect([ready.status, await ready.json()]).toEqual([200, READY]);
    const state = {
      ready: false,
      shuttingDown: false,
      merchants: [{ merchant: 'shop', ready: false, reason: 'expired' }],
    };
    readiness = () => state;
    const unready = await ask('/readyz');
    expect([unready.status, await unready.json()]).toEqual([503, state]);
  });

  it('answers a scrape', async () => {
    const response = await ask('/metrics');
    expect([response.status, await response.text()]).toEqual([200, 'metrics 1\n']);
  });

  it.each(['/', '/livez/', '/constructor'])('has nothing at %s', async (path) => {
    const response = await ask(path);
    expect(response.headers.get('content-type')).toMatch(/^application\/problem\+json/);
    expect(await response.json()).toMatchObject({ status: 404, code: 'route_not_found' });
  });

  it.each(['/livez', '/readyz', '/metrics', '/'])('answers %s to nobody who asks by another name', async (path) => {
    const { port } = new URL(management.url);
    for (const [host, status] of [
      [`rebound.example:${port}`, 421],
      [`egress.shop.example:${port}`, path === '/' ? 404 : 200],
      [`10.2.3.4:${port}`, path === '/' ? 404 : 200],
    ] as const) {
      const [response] = (await once(get(management.url + path, { headers: { host } }), 'response')) as [
        IncomingMessage,
      ];
      response.resume();
      expect([host, response.statusCode]).toEqual([host, status]);
    }
  });

  it('takes no other method, and says which it takes', async () => {
    const response = await ask('/metrics', { method: 'POST', body: 'x'.repeat(100_000) });
    expect(response.headers.get('allow')).toBe('GET, HEAD');
    expect(await response.json()).toMatchObject({ status: 405, code: 'method_not_allowed' });
  });

  it('shows nothing of a fault of its own', async () => {
    readiness = () => {
      throw new Error('a secret of somebody');
    };
    const response = await ask('/readyz');
    const text = await response.text();
    expect([response.status, text]).toEqual([500, expect.stringContaining('internal_error')]);
    expect(text).not.toContain('secret');
  });

  it('refuses headers that are too large', async () => {
    const response = await ask('/livez', { headers: { 'x-large': 'x'.repeat(9_000) } });
    expect([response.status, await response.json()]).toEqual([431, expect.objectContaining({ status: 431 })]);
  });

  it('ends all connections when it closes, those that never asked for anything as well', async () => {
    const second = await open();
    const socket = connect(Number(new URL(second.url).port), '127.0.0.1');
    await once(socket, 'connect');
    const ended = once(socket.resume(), 'close');
    await (await fetch(`${second.url}/livez`)).text();
    await second.close();
    await ended;
    await expect(fetch(`${second.url}/livez`)).rejects.toThrow();
  });
});
