import { execFile } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { createServer, type Server } from 'node:http';
import { createServer as createTlsServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { describeWith, endedAfterAll, freePort, TestAuthority, toolPath } from '#libs/testing';
import { goProgram } from '../e2e/go-program.js';
import { EgressStage } from './egress-stage.js';
import type { RunningEgress } from './running-egress.js';

const run = promisify(execFile);
const fileOf = (name: string): string => fileURLToPath(new URL(`../../docs/examples/${name}`, import.meta.url));

interface Ended {
  readonly code?: number;
  readonly stdout: string;
  readonly stderr: string;
}

/** What somebody answers who is neither the egress nor the bank. */
interface Stranger {
  readonly status: number;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string;
}

/** Somebody else who listens where the egress was thought to be. */
async function somebody(answer: Stranger, asked: string[] = []): Promise<Server> {
  const server = createServer((request, response) => {
    asked.push(`${request.method} ${request.headers.authorization ?? 'without a token'}`);
    request.resume().on('end', () => response.writeHead(answer.status, answer.headers).end(answer.body));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return server;
}
const urlOf = (server: Server): string => `http://127.0.0.1:${(server.address() as AddressInfo).port}`;

/** The order that was sent, and whether the program says that it is not known what became of it. */
function unknownOf({ stdout, stderr }: Ended): { readonly sent: string | undefined; readonly says: string } {
  const sent = /sending ([\w-]+)/.exec(stderr)?.[1];
  const says = new RegExp(`unknown whether the bank has it: (.*); keep ${sent},`).exec(`${stdout}${stderr}`)?.[1];
  return { sent, says: says ?? `something else: ${stdout}${stderr}` };
}

/** What Go says of a status in words. */
const WORDS = '(?: [A-Z][A-Za-z ]+;)?';
const NOBODYS =
  /that is neither of the bank nor of the egress|^\d{3} .*(EOF|invalid character|cannot unmarshal|no sure answer)/;

describe.each([
  ['python3', 'order.py'],
  ['php', 'order.php'],
  ['go', 'order.go'],
] as const)('the example of the egress for %s', (tool, file) => {
  describeWith([tool], 'as it stands', () => {
    let stage: EgressStage;
    let egress: RunningEgress;
    let program: string;
    let args: readonly string[];

    const started = endedAfterAll();
    beforeAll(async () => {
      const folder = started.add(await mkdtemp(join(tmpdir(), 'plain-examples-')), (it) => rm(it, { recursive: true }));
      program = tool === 'go' ? await goProgram(fileOf(file), folder) : toolPath(tool);
      args = tool === 'go' ? [] : [fileOf(file)];
      stage = started.add(await EgressStage.start(), (it) => it.close());
      egress = await stage.egress();
    });

    const output = (variables: Readonly<Record<string, string>> = {}): Promise<Ended> => {
      const own = { EGRESS_URL: egress.url, EGRESS_TOKEN: egress.client().token, MERCHANT_ID: 'terminal-1' };
      const env = { ...process.env, ...own, ...variables };
      const running = run(program, args, { env, timeout: 170_000 });
      return running.catch((error: unknown) => error as Ended);
    };

    it('makes an order, with a token that a line break follows', async () => {
      expect(await output({ EGRESS_TOKEN: `${egress.client().token}\n` })).toMatchObject({
        stdout: expect.stringMatching(/^order [\w-]+ is CREATED\n$/),
        stderr: expect.stringMatching(/sending [\w-]+\n$/),
      });
    });

    const untrustedPort = async (): Promise<number> => {
      const server = createTlsServer(new TestAuthority().issue({ names: ['127.0.0.1'] }));
      await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
      started.add(server, async (it) => void it.close());
      return (server.address() as AddressInfo).port;
    };

    it.each<[string, () => Promise<Readonly<Record<string, string>>>, RegExp]>([
      [
        'the egress refuses',
        async () => ({ EGRESS_TOKEN: 'canary' }),
        new RegExp(`no order: 401${WORDS} unauthenticated; The credential is missing`),
      ],
      [
        'the bank refuses',
        async () => ({ MERCHANT_ID: 'of-nobody' }),
        new RegExp(`no order: 200${WORDS} b_\\w+; \\w+`),
      ],
      [
        'nothing listens',
        async () => ({ EGRESS_URL: `http://127.0.0.1:${await freePort()}` }),
        /no order, for it was not sent: nothing answers at http/,
      ],
      [
        'what listens speaks no TLS',
        async () => ({ EGRESS_URL: egress.url.replace('http:', 'https:') }),
        /no order, for it was not sent: nothing answers at https:.*http:\/\//s,
      ],
      [
        'its certificate is not trusted',
        async () => ({ EGRESS_URL: `https://127.0.0.1:${await untrustedPort()}` }),
        /no order, for it was not sent: nothing answers at https:/,
      ],
      ['there is no MERCHANT_ID', async () => ({ MERCHANT_ID: ' ' }), /set MERCHANT_ID: the terminal's id at the bank/],
      ['the token is none', async () => ({ EGRESS_TOKEN: 'can\nary' }), /set EGRESS_URL and EGRESS_TOKEN/],
    ])('says what is to be done when %s', async (_what, variables, says) => {
      const { code, stdout, stderr } = await output(await variables());
      expect(`${stdout}${stderr}`).toMatch(says);
      expect(`${stdout}${stderr}`).not.toMatch(/canary|\nary|unknown whether/);
      expect(code).toBeGreaterThan(0);
    });

    it('trims the MERCHANT_ID', async () => {
      const { stdout } = await output({ MERCHANT_ID: 'terminal-1\n' });
      expect(stdout).toMatch(/^order [\w-]+ is CREATED\n$/);
    });

    it.each<[string, object, RegExp]>([
      ['loses the request', { kind: 'drop', at: 'arrival' }, new RegExp(`^502${WORDS} answer_lost; The exchange`)],
      [
        'loses the answer',
        { kind: 'drop', at: 'answer' },
        /answer_lost; The exchange|no answer of the egress|neither of|EOF/,
      ],
      ['leaves out the id', { kind: 'missing_fields', fields: ['hppOrderId'] }, NOBODYS],
      ['sends it elsewhere', { kind: 'redirect' }, new RegExp(`^502${WORDS} answer_unusable; The gateway answered`)],
      ['answers with the page of a firewall', { kind: 'firewall_page' }, NOBODYS],
      ['answers with nothing', { kind: 'empty' }, NOBODYS],
      ['answers with a page', { kind: 'garbage_body' }, NOBODYS],
      ['answers with null', { kind: 'garbage_body', text: 'null' }, NOBODYS],
      ['answers with a text', { kind: 'garbage_body', text: '"b_unknown"' }, NOBODYS],
      ['answers with a list', { kind: 'garbage_body', text: '["hppOrderId"]' }, NOBODYS],
      ['fails', { kind: 'error' }, new RegExp(`^503${WORDS} b_server_is_overloaded; A fault that was asked for`)],
    ])('says that nobody knows, and the id, when the gateway %s', async (_what, fault, why) => {
      await stage.control('POST', '/faults', { ...fault, operation: 'create-order', times: 1 });
      const ended = await output();
      const { sent, says } = unknownOf(ended);
      expect(sent).toMatch(/^[\w-]{20,36}$/);
      expect(says).toMatch(why);
      expect(`${ended.stdout}${ended.stderr}`).not.toMatch(/no order|Traceback|undefined/);
      expect(ended.code).toBeGreaterThan(0);
    });

    it.each<[string, Stranger]>([
      ['an empty object', { status: 200, body: '{}' }],
      ['a 404', { status: 404, body: '{"error":"Not Found"}' }],
      ['a 404 with a code that the egress has, too', { status: 404, body: '{"code":"route_not_found"}' }],
    ])('takes %s of somebody else for no refusal', async (_what, answer) => {
      const server = await somebody(answer);
      const ended = await output({ EGRESS_URL: urlOf(server) });
      server.close();
      expect(unknownOf(ended).says).toMatch(new RegExp(`^${answer.status} `));
    });

    it('sends an order again under the id that it is given, and says that the bank has one', async () => {
      const MERCHANT_REQUEST_ID = randomUUID();
      const first = await output({ MERCHANT_REQUEST_ID: `${MERCHANT_REQUEST_ID}\n` });
      expect(first.stdout).toMatch(/^order [\w-]+ is CREATED\n$/);
      expect(first.stderr).toContain(`sending ${MERCHANT_REQUEST_ID}\n`);
      const { code, stdout, stderr } = await output({ MERCHANT_REQUEST_ID });
      expect(`${stdout}${stderr}`).toMatch(
        new RegExp(
          `the bank has a request with this id already, and does not say of which order: 200${WORDS} b_duplicate_field_value; .*; ` +
            `keep ${MERCHANT_REQUEST_ID}, and read in docs/egress.md`,
        ),
      );
      expect(`${stdout}${stderr}`).not.toMatch(/no order|unknown whether/);
      expect(code).toBeGreaterThan(0);
    });

    it('says of an order that was sent before no more than that this request was refused', async () => {
      const MERCHANT_REQUEST_ID = randomUUID();
      const says = 'no order by this request, while one that was sent before may be there';
      const refused = await output({ MERCHANT_REQUEST_ID, MERCHANT_ID: 'of-nobody' });
      expect(`${refused.stdout}${refused.stderr}`).toMatch(new RegExp(`${says}: 200${WORDS} b_\\w+; `));
      const unsent = await output({ MERCHANT_REQUEST_ID, EGRESS_URL: `http://127.0.0.1:${await freePort()}` });
      expect(`${unsent.stdout}${unsent.stderr}`).toContain(`${says}, for it was not sent: nothing answers at http`);
    });

    it('says the detail and the cause of a refusal', async () => {
      const texts = { title: 'There is none', detail: 'the detail', cause: 'the cause' };
      const problem = { type: 'urn:session-broker:problem:session_unavailable', code: 'session_unavailable', ...texts };
      const server = await somebody({ status: 503, body: JSON.stringify(problem) });
      const { stdout, stderr } = await output({ EGRESS_URL: urlOf(server) });
      server.close();
      expect(`${stdout}${stderr}`).toMatch(
        new RegExp(`no order: 503${WORDS} session_unavailable; There is none; the detail; the cause`),
      );
    });

    it('follows nobody to another host, with the token or without', async () => {
      const asked: string[] = [];
      const order = { hppOrderId: 'of-a-stranger', orderStatus: 'CREATED' };
      const elsewhere = await somebody({ status: 200, body: JSON.stringify(order) }, asked);
      const server = await somebody({ status: 302, headers: { location: `${urlOf(elsewhere)}/` } });
      const ended = await output({ EGRESS_URL: urlOf(server) });
      for (const one of [server, elsewhere]) one.close();
      expect(asked).toEqual([]);
      expect(unknownOf(ended).says).toMatch(/^302 /);
    });
  });
});
