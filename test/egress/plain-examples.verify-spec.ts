import { execFile } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { describeWith, endedAfterAll, freePort, LoopbackServer, TestAuthority, toolPath } from '#libs/testing';
import { goProgram } from './go-program.js';
import { type Members, orderRequest } from '../sandbox/order-request.js';
import { EgressStage } from './egress-stage.js';
import type { RunningEgress } from './running-egress.js';

const run = promisify(execFile);
const fileOf = (name: string): string => fileURLToPath(new URL(`../../docs/examples/${name}`, import.meta.url));

interface Ended {
  readonly code?: number;
  readonly stdout: string;
  readonly stderr: string;
}

type Variables = Readonly<Record<string, string>>;

interface Operation {
  /** What it creates, as the programs call it. */
  readonly what: string;
  /** What the sandbox calls it. */
  readonly operation: string;
  /** What the program prints before the id that it sends. */
  readonly sending: string;
  readonly success: RegExp;
  /** The member that shows that the bank made an answer. */
  readonly idMember: string;
  readonly answer: Readonly<Record<string, string>>;
}

const ORDER: Operation = {
  what: 'order',
  operation: 'create-order',
  sending: 'sending',
  success: /^order [\w-]+ is CREATED\nsend the customer to http\S+\n$/,
  idMember: 'hppOrderId',
  answer: { hppOrderId: 'of-a-stranger', orderStatus: 'CREATED' },
};
const REFUND: Operation = {
  what: 'refund',
  operation: 'refund',
  sending: 'sending the refund',
  success: /^refund [\w-]+ is PENDING\n$/,
  idMember: 'ecomOperationId',
  answer: { ecomOperationId: 'of-a-stranger', status: 'PENDING' },
};

const problem = (status: number, code: string, more: object = {}): readonly [number, object] => [
  status,
  { type: `urn:session-broker:problem:${code}`, title: 'The title', status, code, ...more },
];

const started = endedAfterAll();
let stage: EgressStage;
let egress: RunningEgress;
let folder: string;
/** Of a paid purchase. */
let OPERATION_ID: string;

beforeAll(async () => {
  folder = started.add(await mkdtemp(join(tmpdir(), 'plain-examples-')), (it) => rm(it, { recursive: true }));
  stage = started.add(await EgressStage.start(), (it) => it.close());
  egress = stage.egress;
  const order = JSON.parse((await egress.plain().pay('clear', orderRequest())).text) as Members;
  const paid = (await stage.control('POST', `/orders/${String(order['hppOrderId'])}/pay`, {})) as Members;
  OPERATION_ID = String(paid['operationId']);
});

const nowhere = async (): Promise<Variables> => ({ EGRESS_URL: `http://127.0.0.1:${await freePort()}` });
const at = (scheme: string, server: LoopbackServer): Variables => {
  started.add(server, (it) => it.close());
  return { EGRESS_URL: `${scheme}://127.0.0.1:${server.port}` };
};
/** Something that is neither the egress nor the bank, where the egress was thought to be. */
const stranger = async (status: number, body: object, headers: Variables = {}): Promise<Variables> =>
  at(
    'http',
    await LoopbackServer.http((request, response) => {
      request.resume().on('end', () => response.writeHead(status, headers).end(JSON.stringify(body)));
    }),
  );
const untrusted = async (): Promise<Variables> => {
  const certificate = new TestAuthority().issue({ names: ['127.0.0.1'] });
  return at('https', await LoopbackServer.https(certificate, (_request, response) => response.end()));
};

/** A trial: what is wrong, and how the program reports why. `<...>` stands for what Go says of a status in words. */
type Trial = readonly [what: string, set: () => Promise<Variables>, why: string];

const NOBODYS = 'that is neither of the bank nor of the egress|EOF|invalid character|cannot unmarshal|no sure answer';

describe.each<[string, string, Operation]>([
  ['python3', 'order.py', ORDER],
  ['php', 'order.php', ORDER],
  ['go', 'order.go', ORDER],
  ['php', 'refund.php', REFUND],
  ['go', 'refund.go', REFUND],
])('the example of the egress for %s, %s,', (tool, file, { what, operation, sending, success, idMember, answer }) => {
  const fault =
    (members: object): (() => Promise<Variables>) =>
    async () => {
      await stage.control('POST', '/faults', { ...members, operation, times: 1 });
      return {};
    };

  const unset: readonly Trial[] = [
    ['the token is none', async () => ({ EGRESS_TOKEN: 'can\nary' }), 'set EGRESS_URL and EGRESS_TOKEN'],
    ['there is no terminal', async () => ({ MERCHANT_ID: ' ' }), "set MERCHANT_ID: the terminal's id at the bank"],
    ...(operation === 'refund'
      ? ([
          ['there is no purchase', async () => ({ OPERATION_ID: ' ' }), 'set OPERATION_ID: the operationId of'],
        ] as const)
      : []),
  ];
  const refused: readonly Trial[] = [
    [
      'the egress refuses',
      async () => ({ EGRESS_TOKEN: 'canary' }),
      ': 401<> unauthenticated; The credential is missing',
    ],
    ['the bank refuses', async () => ({ MERCHANT_ID: 'of-nobody' }), ': 200<> b_\\w+; \\w+'],
    ['nothing listens', nowhere, ', for it was not sent: nothing answers at http'],
    ['the certificate is not trusted', untrusted, ', for it was not sent: nothing answers at https:'],
    [
      'the bank refuses under a 401',
      fault({ kind: 'error', status: 401, msgCode: 'b_auth_token_expired' }),
      ': 401<> b_auth_token_expired; A fault',
    ],
    [
      'there is no session',
      () => stranger(...problem(503, 'session_unavailable', { detail: 'the detail', cause: 'the cause' })),
      ': 503<> session_unavailable; The title; the detail; the cause',
    ],
  ];
  const unknown: readonly Trial[] = [
    ['the gateway loses the request', fault({ kind: 'drop', at: 'arrival' }), '502<> answer_lost; The exchange'],
    ['the gateway leaves out the id', fault({ kind: 'missing_fields', fields: [idMember] }), NOBODYS],
    // The egress passes it on where it does not open answers, and says so where it does.
    ['a firewall answers with a page', fault({ kind: 'firewall_page' }), `${NOBODYS}|502<> answer_unusable`],
    [
      'the answer is a list',
      fault({ kind: 'garbage_body', text: `["${idMember}"]` }),
      `${NOBODYS}|502<> answer_unusable`,
    ],
    ['the gateway fails', fault({ kind: 'error' }), '503<> b_server_is_overloaded; A fault that was asked for'],
    [
      'the gateway does not know itself',
      fault({ kind: 'error', status: 200, msgCode: 'b_unknown_error' }),
      '200<> b_unknown_error; A fault',
    ],
    ['somebody else has a code of the egress for a refusal', () => stranger(404, { code: 'route_not_found' }), '404'],
    ['somebody else has a code of the egress for success', () => stranger(502, { code: 'answer_unopened' }), '502'],
    [
      'the connection is closed',
      async () => at('http', await LoopbackServer.tcp((socket) => void socket.once('data', () => socket.end()))),
      'no answer of the egress: \\S',
    ],
    [
      // While part of the request is still to be sent, or after that: both happen.
      'the connection is reset',
      async () =>
        at('http', await LoopbackServer.tcp((socket) => void socket.once('data', () => socket.resetAndDestroy()))),
      'no answer of the egress: \\S',
    ],
  ];
  const there: readonly Trial[] = [
    [
      'the egress says so',
      () => stranger(...problem(502, 'answer_unopened', { detail: 'the detail' })),
      'the bank HAS the \\w+, but its answer was not opened: 502<> answer_unopened; .*the detail',
    ],
    operation === 'refund'
      ? [
          'its answer does not open',
          fault({ kind: 'wrong_key' }),
          'HAS the refund, .*: 502<> answer_unopened; .*look it up',
        ]
      : [
          'there is nowhere to send the customer to',
          () => stranger(200, { ...answer, redirectUrl: null }),
          'the bank HAS the order of-a-stranger, but names no redirectUrl ',
        ],
  ];

  describeWith([tool], 'as it stands', () => {
    let command: readonly [program: string, ...args: string[]];
    beforeAll(async () => {
      command = tool === 'go' ? [await goProgram(fileOf(file), folder)] : [toolPath(tool), fileOf(file)];
    });

    const output = async (variables: Variables = {}): Promise<Ended & { readonly printed: string }> => {
      const way = { EGRESS_URL: egress.url, EGRESS_TOKEN: egress.client().token };
      const env = { ...process.env, ...way, MERCHANT_ID: 'terminal-1', OPERATION_ID, ...variables };
      const [program, ...args] = command;
      const ended = await run(program, args, { env, timeout: 170_000 }).catch((error: unknown) => error as Ended);
      return { ...ended, printed: `${ended.stdout}${ended.stderr}` };
    };
    const saying = (why: string): RegExp => new RegExp(why.replaceAll('<>', '(?: [A-Z][A-Za-z ]+;)?'));
    /** @returns what a program says that has not done what it is for, and the id that it has sent */
    async function failed(variables: Variables): Promise<{ readonly printed: string; readonly sent: string }> {
      const { code, printed, stderr } = await output(variables);
      expect(code).toBeGreaterThan(0);
      expect(printed).not.toMatch(/can\s?ary|\nary|Traceback|undefined|Fatal error|Stack trace/);
      return { printed, sent: new RegExp(`${sending} ([\\w-]{20,36})\n`).exec(stderr)?.[1] ?? 'nothing' };
    }

    it('does what it is for, and trims what it is given', async () => {
      const variables = { MERCHANT_ID: 'terminal-1\n', OPERATION_ID: ` ${OPERATION_ID}\n` };
      expect(await output({ EGRESS_TOKEN: `${egress.client().token}\n`, ...variables })).toMatchObject({
        stdout: expect.stringMatching(success),
        stderr: expect.stringMatching(new RegExp(`${sending} [\\w-]+\n$`)),
      });
    });

    it.each(unset)('names what is not set, and sends nothing, when %s', async (_what, set, why) => {
      const { printed, sent } = await failed(await set());
      expect([printed, sent]).toEqual([expect.stringContaining(why), 'nothing']);
    });

    it.each(refused)('says that there is none when %s', async (_what, set, why) => {
      const { printed } = await failed(await set());
      expect(printed).toMatch(saying(`no ${what}${why}`));
      expect(printed).not.toMatch(/unknown whether|HAS/);
    });

    it.each(unknown)('says that nobody knows, and the id to keep, when %s', async (_what, set, why) => {
      const { printed, sent } = await failed(await set());
      expect(printed).toMatch(saying(`unknown whether the bank has it: .*(?:${why}).*; keep ${sent}`));
      expect(printed).toMatch(/never (?:send it )?under a new merchantRequestId/);
      expect(printed).not.toMatch(/no (?:order|refund)|HAS/);
    });

    it.each(there)('says that the bank has it when %s', async (_what, set, why) => {
      const { printed, sent } = await failed(await set());
      expect(printed).toMatch(saying(why));
      expect(printed).toMatch(new RegExp(`(?:${sent}|of-a-stranger).*\\n$`));
      expect(printed).not.toMatch(/unknown whether|no (?:order|refund)|send the customer to (?:\n|http|None|null)/);
    });

    it('sends it again under the id that it is given, and says that the bank has one', async () => {
      const MERCHANT_REQUEST_ID = randomUUID();
      const first = await output({ MERCHANT_REQUEST_ID: `${MERCHANT_REQUEST_ID}\n` });
      expect(first.stdout).toMatch(success);
      expect(first.stderr).toContain(`${sending} ${MERCHANT_REQUEST_ID}\n`);
      const { printed } = await failed({ MERCHANT_REQUEST_ID });
      const why = `has a request with this id already.*: 400<> b_duplicate_field_value; .*${MERCHANT_REQUEST_ID}`;
      expect(printed).toMatch(saying(why));
      expect(printed).not.toMatch(/no (?:order|refund)|unknown whether/);
    });

    it('says of one that was sent before no more than that this request was refused', async () => {
      const MERCHANT_REQUEST_ID = randomUUID();
      const says = `no ${what} by this request, while one that was sent before may be there`;
      const refusal = await failed({ MERCHANT_REQUEST_ID, MERCHANT_ID: 'of-nobody' });
      expect(refusal.printed).toMatch(saying(`${says}: 200<> b_\\w+; `));
      const unsent = await failed({ MERCHANT_REQUEST_ID, ...(await nowhere()) });
      expect(unsent.printed).toContain(`${says}, for it was not sent: nothing answers at http`);
    });

    it('ends with one line, whatever the bank says', async () => {
      const { printed } = await failed(await stranger(200, { msgCode: 'b_x', msgText: 'of\ntwo lines' }));
      expect(printed).toMatch(
        new RegExp(`^.*${sending} [\\w-]+\n.*no ${what}: .*two lines\n$`, tool === 'php' ? '' : 's'),
      );
    });

    it('follows nobody to another host, with the token or without', async () => {
      const elsewhere = started.add(await LoopbackServer.http((_, response) => response.end()), (it) => it.close());
      const location = `http://127.0.0.1:${elsewhere.port}/`;
      const { printed } = await failed(await stranger(302, answer, { location }));
      expect(elsewhere.connections).toBe(0);
      expect(printed).toMatch(/unknown whether the bank has it: 302 /);
    });
  });
});
