import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describeWith, endedAfterEach, eventually, freePort, LoopbackServer, toolPath } from '#libs/testing';

const REPLICAS = 3;
const PROBLEM = { type: 'urn:session-broker:problem:session_unavailable', status: 503, code: 'session_unavailable' };
const configuration = new URL('../../deploy/compose/nginx.conf', import.meta.url);

/** One merchant has a session, the others have none: the same on all replicas. */
function answer({ url = '' }: IncomingMessage, response: ServerResponse): void {
  if (url.includes('/shop/')) return void response.writeHead(200, { 'content-type': 'application/json' }).end('{}');
  const headers = { 'content-type': 'application/problem+json; charset=utf-8', 'retry-after': '7' };
  response.writeHead(503, headers).end(JSON.stringify(PROBLEM));
}

async function ended(child: ChildProcess): Promise<void> {
  const closed = once(child, 'close');
  child.kill('SIGTERM');
  await closed;
}

/** The balancer of docker-compose.yml in front of three replicas, with its own configuration. */
describeWith('nginx', 'the balancer', () => {
  let replicas: readonly LoopbackServer[];
  let folder: string;
  let url: string;

  const started = endedAfterEach();
  const replica = async (): Promise<LoopbackServer> =>
    started.add(await LoopbackServer.http(answer), (it) => it.close());
  beforeEach(async () => {
    replicas = await Promise.all(Array.from({ length: REPLICAS }, replica));
    folder = started.add(await mkdtemp(join(tmpdir(), 'balancer-')), (it) => rm(it, { recursive: true }));
    const port = await freePort();
    url = `http://127.0.0.1:${port}`;
    const file = join(folder, 'nginx.conf');
    await writeFile(file, fitted(await readFile(fileURLToPath(configuration), 'utf8'), port));
    const user = process.getuid?.() === 0 ? 'user root;' : '';
    const own = `daemon off; error_log stderr; pid ${join(folder, 'pid')}; ${user}`;
    const nginx = spawn(toolPath('nginx'), ['-e', 'stderr', '-c', file, '-g', own], { stdio: 'ignore' });
    started.add(nginx, ended);
    await eventually(() =>
      fetch(`${url}/v1/merchants/shop/session`).then(
        (it) => it.ok,
        () => false,
      ),
    );
  });

  function fitted(text: string, port: number): string {
    const kinds = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi'];
    const places = kinds.map((kind) => `${kind}_temp_path ${join(folder, kind)};`).join(' ');
    return text
      .replace(/broker-(\d):8080/g, (_name, number: string) => `127.0.0.1:${replicas[Number(number) - 1]?.port}`)
      .replace('listen 8080;', `listen 127.0.0.1:${port};`)
      .replace('http {', `http { ${places}`);
  }

  const statuses = async (merchant: string, reads: number): Promise<number[]> => {
    const seen: number[] = [];
    for (let read = 0; read < reads; read += 1)
      seen.push((await fetch(`${url}/v1/merchants/${merchant}/session`)).status);
    return seen;
  };

  it('passes on what the broker says of a merchant without a session, and goes on for all others', async () => {
    const refused = await fetch(`${url}/v1/merchants/broken/session`);
    expect([refused.status, refused.headers.get('retry-after'), await refused.json()]).toEqual([503, '7', PROBLEM]);
    expect(await statuses('broken', 8)).toEqual(Array.from({ length: 8 }, () => 503));
    expect(await statuses('shop', 8)).toEqual(Array.from({ length: 8 }, () => 200));
  });

  it('answers every read while all replicas but one are gone', async () => {
    await Promise.all(replicas.slice(1).map((replica) => replica.close()));
    expect(await statuses('shop', 9)).toEqual(Array.from({ length: 9 }, () => 200));
  });
});
