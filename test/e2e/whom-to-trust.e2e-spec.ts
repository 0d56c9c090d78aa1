import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { endedAfterEach, LoopbackServer, TestAuthority } from '#libs/testing';

const ROOT = join(import.meta.dirname, '..', '..');
const run = promisify(execFile);

/** What is imported in a process of its own: Node.js reads the variable there, and not in a test's copy of it. */
async function output(program: string, ...values: readonly string[]): Promise<string> {
  const environment = { ...process.env, NODE_TLS_REJECT_UNAUTHORIZED: '0', NODE_NO_WARNINGS: '1' };
  const options = { cwd: ROOT, env: environment, timeout: 60_000 };
  const { stdout } = await run(process.execPath, ['--input-type=module', '--eval', program, ...values], options);
  return stdout.trim();
}

const KEYS = `
  import { SystemClock } from '#libs/clock';
  import { fetchKeySet } from './dist/apps/broker/src/auth/fetch-key-set.js';
  const [uri, ca] = process.argv.slice(1);
  const place = { kind: 'uri', uri: new URL(uri), ...(ca === undefined ? {} : { ca }) };
  console.log(await fetchKeySet(place, new SystemClock()).then(JSON.stringify, ({ code }) => code));`;

const THROUGH_PROXY = `
  import { SystemClock } from '#libs/clock';
  import { OutboundConnections } from '#libs/outbound';
  const connections = new OutboundConnections({ clock: new SystemClock() });
  const dispatcher = connections.dispatcherFor({ tls: { pins: [] }, proxy: new URL(process.argv[1]) });
  const asked = dispatcher.request({ origin: 'https://gateway.example', path: '/', method: 'GET' });
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
    expect(await output(THROUGH_PROXY, await serve())).toMatch(/^(?:SELF_SIGNED_CERT_IN_CHAIN|UNABLE_TO_\w+)$/);
    expect(asked).toBe(0);
  });
});
