import { execFile } from 'node:child_process';
import { mkdir, mkdtemp, readdir, rm } from 'node:fs/promises';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { describeWith, endedAfterAll, eventually } from '#libs/testing';
import { orderRequest } from '../sandbox/order-request.js';
import { CliProcess } from './cli-process.js';

const PAID_ORDER = fileURLToPath(new URL('../../docs/examples/merchant-sdk/paid-order.sh', import.meta.url));

describe('npm start', () => {
  let folder: string;
  /** Of all tests but those that end one. */
  let shared: CliProcess;
  const started = endedAfterAll();

  /** A demo on free ports, with its own home folder, which has to stay empty. */
  const startDemo = (environment: Readonly<Record<string, string>> = {}): CliProcess => {
    const demo = new CliProcess(['demo'], {
      DEMO_BROKER_PORT: '0',
      DEMO_MANAGEMENT_PORT: '0',
      DEMO_SANDBOX_PORT: '0',
      DEMO_EGRESS_PORT: '0',
      DEMO_EGRESS_MANAGEMENT_PORT: '0',
      HOME: join(folder, 'home'),
      TMPDIR: join(folder, 'tmp'),
      ...environment,
    });
    return started.add(demo, async (it) => {
      it.signal('SIGTERM');
      await it.ended;
    });
  };
  const curlLine = /curl -s -H 'Authorization: (Bearer [\w-]+)' (http:\/\/127\.0\.0\.1:(\d+)\S+)/;
  const readSession = async (demo: CliProcess): Promise<Response> => {
    const [, authorization, url] = await demo.said(curlLine);
    return fetch(url!, { headers: { authorization: authorization!, connection: 'close' } });
  };
  const isFree = (port: number): Promise<boolean> =>
    new Promise((resolve) => {
      const server = createServer();
      server.once('error', () => resolve(false));
      server.listen(port, '127.0.0.1', () => server.close(() => resolve(true)));
    });
  const isAlive = (pid: number): boolean => {
    try {
      return process.kill(pid, 0);
    } catch {
      return false;
    }
  };
  const portsOf = (demo: CliProcess): number[] => [
    ...new Set([...demo.out.matchAll(/http:\/\/127\.0\.0\.1:(\d+)/g)].map(([, port]) => Number(port))),
  ];

  beforeAll(async () => {
    folder = started.add(await mkdtemp(join(tmpdir(), 'demo-e2e-')), (it) => rm(it, { recursive: true }));
    await mkdir(join(folder, 'home'));
    await mkdir(join(folder, 'tmp'));
    shared = startDemo();
    await shared.said(curlLine);
  });

  it('prints a line that reads a session', async () => {
    const response = await readSession(shared);
    expect(response.status).toBe(200);
    expect(await response.json()).toMatchObject({ merchant: 'shop', generation: expect.any(Number) as number });
  });

  describeWith('curl', 'and its lines for a shell', () => {
    it('prints a line that orders through the egress', async () => {
      const [line] = await shared.said(/curl -s --json .*\/create-order -H 'authorization: Bearer [\w-]+'/);
      const { stdout } = await promisify(execFile)('sh', ['-c', line]);
      expect(JSON.parse(stdout)).toMatchObject({ orderStatus: 'CREATED', coinAmount: 12_500, merchantId: 'demo' });
    });

    it('takes an order that is paid, which the guide to a merchant SDK gives back', async () => {
      const [, EGRESS_TOKEN] = await shared.said(/create-order -H 'authorization: Bearer ([\w-]+)'/);
      const [, EGRESS_URL] = await shared.said(/egress +(http\S+)/);
      const [, GATEWAY_URL] = await shared.said(/gateway sandbox +(http\S+)/);
      const env = { ...process.env, EGRESS_URL, EGRESS_TOKEN, GATEWAY_URL };
      const { stdout } = await promisify(execFile)('sh', [PAID_ORDER], { env });
      expect(stdout.trim()).toMatch(/^[\da-f-]{36}$/);
      const refused = promisify(execFile)('sh', [PAID_ORDER], { env: { ...env, EGRESS_TOKEN: 'another' } });
      await expect(refused).rejects.toThrow(/no order is paid: the egress \(EGRESS_URL\) says .*"unauthenticated"/);
    });

    it('prints a program that breaks payments by creating sessions for itself, and the cure', async () => {
      const [, token] = await shared.said(/create-order -H 'authorization: Bearer ([\w-]+)'/);
      const [, egress] = await shared.said(/egress +(http\S+)/);
      const [rival = '', cured = ''] = [...shared.out.matchAll(/while sleep 1; do (curl .*); done/g)].map(
        ([, line]) => line,
      );
      const statusOf = async (line: string): Promise<string> =>
        (await promisify(execFile)('sh', ['-c', `${line} -w '%{http_code}'`])).stdout;
      const order = async (): Promise<'ordered' | 'refused'> => {
        const headers = { 'content-type': 'application/json', authorization: `Bearer ${token}` };
        const body = JSON.stringify(orderRequest({ merchantId: 'demo' }));
        const url = `${egress}/ecom/execute_request/hpp/v1/create-order`;
        const answered = await fetch(url, { method: 'POST', headers, body });
        const told = await answered.text();
        return told.includes('"hppOrderId"') ? 'ordered' : 'refused';
      };
      expect(await order()).toBe('ordered');
      const outcomes = new Set<string>();
      await eventually(async () => {
        expect(await statusOf(rival)).toBe('200');
        outcomes.add(await order());
        return /ERROR somebody else creates sessions of this merchant and ends ours .*runbook foreign-authorizer/.test(
          shared.out,
        );
      });
      expect(outcomes).toEqual(new Set(['ordered', 'refused']));
      const [, authorization, url] = await shared.said(curlLine);
      const listed = await fetch(url!.replace(/\/shop\/session$/, ''), { headers: { authorization: authorization! } });
      expect(await listed.json()).toMatchObject({ merchants: [{ condition: 'foreign_authorizer' }] });
      await eventually(async () => (await order()) === 'ordered');
      expect([await statusOf(cured), await order()]).toEqual(['200', 'ordered']);
    });
  });

  describeWith('linux', 'and its processes', () => {
    it('start beside others with the same token, and leave nothing behind when it is killed and cannot end them', async () => {
      const demo = startDemo();
      expect((await demo.said(curlLine))[1]).toBe((await shared.said(curlLine))[1]);
      expect([(await readSession(shared)).status, (await readSession(demo)).status]).toEqual([200, 200]);
      const [ports, services] = [portsOf(demo), demo.children()];
      expect(services.filter(isAlive)).toHaveLength(3);
      demo.signal('SIGKILL');
      await demo.ended;
      await eventually(() => !services.some(isAlive));
      expect(await Promise.all(ports.map(isFree))).toEqual([true, true, true, true, true]);
    });

    it('end when one of them dies, with one line that names it', async () => {
      const demo = startDemo();
      await demo.said(curlLine);
      const services = demo.children();
      process.kill(services[1]!, 'SIGKILL');
      expect(await demo.ended).toBe(1);
      expect(demo.err).toMatch(/^error: the (sandbox|broker|egress) has failed: signal SIGKILL\n$/);
      expect(services.filter(isAlive)).toEqual([]);
    });

    it('end cleanly on Ctrl-C, even when that arrives twice', async () => {
      const [ports, services] = [portsOf(shared), shared.children()];
      expect([ports.length, services.length]).toEqual([5, 3]);
      shared.signal('SIGINT');
      shared.signal('SIGINT');
      expect(await shared.ended).toBe(0);
      expect(shared.err).toBe('');
      expect(services.filter(isAlive)).toEqual([]);
      expect(await Promise.all(ports.map(isFree))).toEqual([true, true, true, true, true]);
    });
  });

  it('leaves nothing in the home and temporary folders', async () => {
    expect(await readdir(join(folder, 'home'))).toEqual([]);
    expect(await readdir(join(folder, 'tmp'))).toEqual([]);
  });
});
