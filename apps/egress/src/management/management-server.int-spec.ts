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

  const large = { headers: { 'x-large': 'x'.repeat(9_000) } };
  it.each<[string, RequestInit, number, string, string | null]>([
    ['/livez', {}, 200, '{"alive":true}', null],
    ['/metrics', {}, 200, 'metrics 1', null],
    ['/', {}, 404, 'route_not_found', null],
    ['/livez/', {}, 404, 'route_not_found', null],
    ['/constructor', {}, 404, 'route_not_found', null],
    ['/metrics', { method: 'POST', body: 'x'.repeat(100_000) }, 405, 'method_not_allowed', 'GET, HEAD'],
    ['/livez', large, 431, '"status":431', null],
  ])('answers %s, whatever else is wrong (%#)', async (...[path, init, status, says, allow]) => {
    readiness = () => ({ ...READY, ready: false });
    const response = await ask(path, init);
    expect([response.status, await response.text()]).toEqual([status, expect.stringContaining(says)]);
    expect(response.headers.get('allow')).toBe(allow);
    if (path === '/livez' && status === 200) expect(response.headers.get('cache-control')).toBe('no-store');
    if (status >= 400) expect(response.headers.get('content-type')).toMatch(/^application\/problem\+json/);
  });

  it('answers nobody who asks by another name', async () => {
    const { port } = new URL(management.url);
    for (const [host, path, status] of [
      [`rebound.example:${port}`, '/metrics', 421],
      [`rebound.example:${port}`, '/', 421],
      [`egress.shop.example:${port}`, '/metrics', 200],
      [`10.2.3.4:${port}`, '/metrics', 200],
    ] as const) {
      const asked = get(management.url + path, { headers: { host } });
      const [response] = (await once(asked, 'response')) as [IncomingMessage];
      response.resume();
      expect([host, response.statusCode]).toEqual([host, status]);
    }
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
