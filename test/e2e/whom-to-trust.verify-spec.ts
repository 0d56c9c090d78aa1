import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { endedAfterEach, LoopbackServer, TestAuthority } from '#libs/testing';

const ROOT = join(import.meta.dirname, '..', '..');
const run = promisify(execFile);

const OBEYED_BY_NODE = { NODE_TLS_REJECT_UNAUTHORIZED: '0', NODE_NO_WARNINGS: '1' };

/** What a program prints in a separate process: Node.js reads its variables there, and not a test's copy of them. */
async function output(program: string, ...values: string[]): Promise<string> {
  const options = { cwd: ROOT, env: { ...process.env, ...OBEYED_BY_NODE }, timeout: 60_000 };
  const { stdout } = await run(process.execPath, ['--input-type=module', '--eval', program, ...values], options);
  return stdout.trim();
}

const KEYS = `
  import { SystemClock } from '#libs/clock';
  import { fetchKeySet } from './dist/apps/broker/src/auth/key-set.js';
  const [uri, ca] = process.argv.slice(1);
  const place = { kind: 'uri', uri: new URL(uri), ...(ca === undefined ? {} : { ca }) };
  console.log(await fetchKeySet(place, new SystemClock()).then(JSON.stringify, ({ code }) => code));`;

const THROUGH_PROXY = `
  import { SystemClock } from '#libs/clock';
  import { OutboundConnections } from '#libs/outbound';
  const connections = new OutboundConnections({ clock: new SystemClock() });
  const dispatcher = connections.dispatcherFor({ tls: { pins: [] }, proxy: new URL(process.argv[1]) });
  const asked = dispatcher.request({ origin: process.argv[2], path: '/', method: 'GET' });
  console.log(await asked.then(() => 'answered', ({ code, cause }) => cause?.code ?? code));
  await connections.close();`;

describe('where NODE_TLS_REJECT_UNAUTHORIZED is 0', () => {
  const authority = new TestAuthority();
  const started = endedAfterEach();
  let asked = 0;

  const serve = async (): Promise<string> => {
    const certificate = authority.issue({ names: ['127.0.0.1'] });
    const listener: Parameters<typeof LoopbackServer.https>[1] = (_request, response) => {
      asked += 1;
      response.end('{"keys":[]}');
    };
    const server = started.add(await LoopbackServer.https(certificate, listener), (it) => it.close());
    return `https://127.0.0.1:${server.port}`;
  };

  beforeEach(() => (asked = 0));

  it('the keys of an issuer are taken only from whom the authority vouches for', async () => {
    const uri = await serve();
    expect(await output(KEYS, uri, authority.cert)).toBe('{"keys":[]}');
    expect(await output(KEYS, uri, new TestAuthority().cert)).toBe('authentication_unavailable');
    expect(await output(KEYS, uri)).toBe('authentication_unavailable');
    expect(asked).toBe(1);
  });

  it('nothing is asked of a proxy that nobody vouches for', async () => {
    const end = await output(THROUGH_PROXY, await serve(), 'https://gateway.example');
    expect(end).toMatch(/^(?:SELF_SIGNED_CERT_IN_CHAIN|UNABLE_TO_\w+)$/);
    expect(asked).toBe(0);
  });
});
