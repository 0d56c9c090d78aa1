import { execFile } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import type { Socket } from 'node:net';
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

/** An answer by something that is neither the egress nor the bank. */
interface Stranger {
  readonly status: number;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string;
}

/** Listens where the egress was thought to be. */
const somebody = ({ status, headers, body }: Stranger): Promise<LoopbackServer> =>
  LoopbackServer.http((request, response) => {
    request.resume().on('end', () => response.writeHead(status, headers).end(body));
  });
const urlOf = ({ port }: LoopbackServer): string => `http://127.0.0.1:${port}`;

interface Operation {
  /** What it creates, as the programs call it. */
  readonly what: string;
  /** What the sandbox calls it. */
  readonly operation: string;
  /** Its answer comes sealed, and the egress opens it. */
  readonly isSealed: boolean;
  /** What the program prints before the id that it sends. */
  readonly sending: string;
  readonly success: RegExp;
  /** What has to be set besides the egress and its token, and how the program asks for it. */
  readonly demands: Readonly<Record<string, string>>;
  /** The member that shows that the bank made an answer. */
  readonly idMember: string;
  readonly answer: Readonly<Record<string, string>>;
  /** What follows for an id that the bank already has. */
  readonly duplicate: string;
  /** What to do with the id if the outcome is unknown. */
  readonly findOut: string;
  /** And if the bank has it. */
  readonly whereItIs: (id: string) => string;
}

const TERMINAL = "set MERCHANT_ID: the terminal's id at the bank";
const ORDER: Operation = {
  what: 'order',
  operation: 'create-order',
  isSealed: false,
  sending: 'sending',
  success: /^order [\w-]+ is CREATED\nsend the customer to http\S+\n$/,
  demands: { MERCHANT_ID: TERMINAL },
  idMember: 'hppOrderId',
  answer: { hppOrderId: 'of-a-stranger', orderStatus: 'CREATED' },
  duplicate: ', and does not say of which order',
  findOut: ', send the order again with it to find out, and never under a new merchantRequestId',
  whereItIs: (id) => `look for its hppOrderId in the notification, or ask the bank about ${id}`,
};
const REFUND: Operation = {
  what: 'refund',
  operation: 'refund',
  isSealed: true,
  sending: 'sending the refund',
  success: /^refund [\w-]+ is PENDING\n$/,
  demands: {
    MERCHANT_ID: TERMINAL,
    OPERATION_ID: 'set OPERATION_ID: the operationId of the purchase of which something is given back',
  },
  idMember: 'ecomOperationId',
  answer: { ecomOperationId: 'of-a-stranger', status: 'PENDING' },
  duplicate: '',
  findOut: ': the notification or the bank tells its status, never send it under a new merchantRequestId',
  whereItIs: (id) =>
    `keep ${id}: the notification or the bank tells its status, never send it under a new merchantRequestId`,
};

interface Conclusion {
  readonly sent: string | undefined;
  readonly says: string;
}

/** The request that was sent, and whether the program says that the outcome is unknown. */
function unknownOf({ stdout, stderr }: Ended, { sending, findOut }: Operation): Conclusion {
  const sent = new RegExp(`${sending} ([\\w-]+)`).exec(stderr)?.[1];
  const says = new RegExp(`unknown whether the bank has it: (.*); keep ${sent}${findOut}`).exec(`${stdout}${stderr}`);
  return { sent, says: says?.[1] ?? `something else: ${stdout}${stderr}` };
}

/** How Go puts a status into words. */
const WORDS = '(?: [A-Z][A-Za-z ]+;)?';
const NOBODYS =
  /that is neither of the bank nor of the egress|^\d{3} .*(EOF|invalid character|cannot unmarshal|no sure answer)/;

/**
 * How an answer by neither of them is reported: the egress passes it on if it does not open answers, and says so if it
 * does.
 */
const NOT_THE_BANKS = new RegExp(`${NOBODYS.source}|^502${WORDS} answer_unusable; `);

describe.each<[string, string, Operation]>([
  ['python3', 'order.py', ORDER],
  ['php', 'order.php', ORDER],
  ['go', 'order.go', ORDER],
  ['php', 'refund.php', REFUND],
  ['go', 'refund.go', REFUND],
])('the example of the egress for %s, %s,', (tool, file, played) => {
  const { what, operation, isSealed, sending, success, demands, idMember, answer, duplicate, whereItIs } = played;

  describeWith([tool], 'as it stands', () => {
    let stage: EgressStage;
    let egress: RunningEgress;
    let program: string;
    let args: readonly string[];
    /** That of a paid purchase. */
    let OPERATION_ID: string;

    const started = endedAfterAll();
    beforeAll(async () => {
      const folder = started.add(await mkdtemp(join(tmpdir(), 'plain-examples-')), (it) => rm(it, { recursive: true }));
      program = tool === 'go' ? await goProgram(fileOf(file), folder) : toolPath(tool);
      args = tool === 'go' ? [] : [fileOf(file)];
      stage = started.add(await EgressStage.start(), (it) => it.close());
      egress = stage.egress;
      const order = JSON.parse((await egress.plain().pay('clear', orderRequest())).text) as Members;
      const paid = (await stage.control('POST', `/orders/${String(order['hppOrderId'])}/pay`, {})) as Members;
      OPERATION_ID = String(paid['operationId']);
    });

    const output = (variables: Readonly<Record<string, string>> = {}): Promise<Ended> => {
      const way = { EGRESS_URL: egress.url, EGRESS_TOKEN: egress.client().token };
      const env = { ...process.env, ...way, MERCHANT_ID: 'terminal-1', OPERATION_ID, ...variables };
      const running = run(program, args, { env, timeout: 170_000 });
      return running.catch((error: unknown) => error as Ended);
    };
    const printed = ({ stdout, stderr }: Ended): string => `${stdout}${stderr}`;
    const fault = (members: object): Promise<unknown> =>
      stage.control('POST', '/faults', { ...members, operation, times: 1 });
    /** What the program prints if something other than the egress answers. */
    const outputOf = async (stranger: Stranger): Promise<Ended> => {
      const server = started.add(await somebody(stranger), (it) => it.close());
      return output({ EGRESS_URL: urlOf(server) });
    };

    it('does what it is for, and trims what it is given', async () => {
      const variables = { MERCHANT_ID: 'terminal-1\n', OPERATION_ID: ` ${OPERATION_ID}\n` };
      expect(await output({ EGRESS_TOKEN: `${egress.client().token}\n`, ...variables })).toMatchObject({
        stdout: expect.stringMatching(success),
        stderr: expect.stringMatching(new RegExp(`${sending} [\\w-]+\n$`)),
      });
    });

    const untrusted = async (): Promise<LoopbackServer> => {
      const certificate = new TestAuthority().issue({ names: ['127.0.0.1'] });
      return started.add(await LoopbackServer.https(certificate, (_request, response) => response.end()), (it) =>
        it.close(),
      );
    };

    it.each<[string, () => Promise<Readonly<Record<string, string>>>, RegExp]>([
      [
        'the egress refuses',
        async () => ({ EGRESS_TOKEN: 'canary' }),
        new RegExp(`no ${what}: 401${WORDS} unauthenticated; The credential is missing`),
      ],
      [
        'the bank refuses',
        async () => ({ MERCHANT_ID: 'of-nobody' }),
        new RegExp(`no ${what}: 200${WORDS} b_\\w+; \\w+`),
      ],
      [
        'nothing listens',
        async () => ({ EGRESS_URL: `http://127.0.0.1:${await freePort()}` }),
        new RegExp(`no ${what}, for it was not sent: nothing answers at http`),
      ],
      [
        'its certificate is not trusted',
        async () => ({ EGRESS_URL: `https://127.0.0.1:${(await untrusted()).port}` }),
        new RegExp(`no ${what}, for it was not sent: nothing answers at https:`),
      ],
      ['the token is none', async () => ({ EGRESS_TOKEN: 'can\nary' }), /set EGRESS_URL and EGRESS_TOKEN/],
    ])('says what is to be done when %s', async (_what, variables, says) => {
      const ended = await output(await variables());
      expect(printed(ended)).toMatch(says);
      expect(printed(ended)).not.toMatch(/canary|\nary|unknown whether/);
      expect(ended.code).toBeGreaterThan(0);
    });

    it.each(Object.entries(demands))('names %s where it is not set, and sends nothing', async (name, says) => {
      const ended = await output({ [name]: ' ' });
      expect(printed(ended)).toContain(says);
      expect(printed(ended)).not.toContain('sending');
      expect(ended.code).toBeGreaterThan(0);
    });

    it.each<[string, object, RegExp]>([
      ['loses the request', { kind: 'drop', at: 'arrival' }, new RegExp(`^502${WORDS} answer_lost; The exchange`)],
      ['leaves out the id', { kind: 'missing_fields', fields: [idMember] }, NOBODYS],
      ['answers with the page of a firewall', { kind: 'firewall_page' }, NOT_THE_BANKS],
      ['answers with nothing', { kind: 'empty' }, NOT_THE_BANKS],
      ['answers with a list', { kind: 'garbage_body', text: `["${idMember}"]` }, NOT_THE_BANKS],
      ['fails', { kind: 'error' }, new RegExp(`^503${WORDS} b_server_is_overloaded; A fault that was asked for`)],
      [
        'does not know itself',
        { kind: 'error', status: 200, msgCode: 'b_unknown_error' },
        new RegExp(`^200${WORDS} b_unknown_error; A fault`),
      ],
    ])('says that nobody knows, and the id, when the gateway %s', async (_what, members, why) => {
      await fault(members);
      const ended = await output();
      const { sent, says } = unknownOf(ended, played);
      expect(sent).toMatch(/^[\w-]{20,36}$/);
      expect(says).toMatch(why);
      expect(printed(ended)).not.toMatch(/no (order|refund)|HAS|Traceback|undefined/);
      expect(ended.code).toBeGreaterThan(0);
    });

    it('takes a 401 with a code of the bank for a refusal', async () => {
      await fault({ kind: 'error', status: 401, msgCode: 'b_auth_token_expired' });
      expect(printed(await output())).toMatch(new RegExp(`no ${what}: 401${WORDS} b_auth_token_expired; A fault`));
    });

    it.each<[string, Stranger]>([
      ['a 404 with a code that the egress has, too', { status: 404, body: '{"code":"route_not_found"}' }],
      ['a 502 with a code that the egress has, too', { status: 502, body: '{"code":"answer_unopened"}' }],
    ])('takes %s of somebody else for no refusal, and for none that the bank has it', async (_what, stranger) => {
      const { says } = unknownOf(await outputOf(stranger), played);
      expect(says).toMatch(new RegExp(`^${stranger.status} `));
    });

    it.each<[string, (socket: Socket) => unknown]>([
      ['closed', (socket) => socket.once('data', () => socket.end())],
      // While part of the request is still to be sent, or after that: both happen.
      ['reset', (socket) => socket.once('data', () => socket.resetAndDestroy())],
    ])('says that nobody knows where the connection with the egress is %s', async (_how, each) => {
      const server = started.add(await LoopbackServer.tcp(each), (it) => it.close());
      const ended = await output({ EGRESS_URL: urlOf(server) });
      expect(unknownOf(ended, played).says).toMatch(/^no answer of the egress: \S/);
    });

    it('ends with one line, whatever the bank says', async () => {
      const body = JSON.stringify({ msgCode: 'b_operation_not_found', msgText: 'of\ntwo lines' });
      const ended = await outputOf({ status: 200, headers: { 'x-request-id': 'r-1' }, body });
      expect(printed(ended)).toMatch(
        new RegExp(`^.*${sending} [\\w-]+\n.*no ${what}: .*two lines\n$`, tool === 'php' ? '' : 's'),
      );
      expect(printed(ended)).not.toMatch(/EGRESS_URL|Fatal error|Stack trace/);
    });

    const expectUnopened = (ended: Ended, detail: string): void => {
      const sent = new RegExp(`${sending} ([\\w-]+)\n`).exec(ended.stderr)?.[1];
      const told = `the bank HAS the ${what}, but its answer was not opened: 502${WORDS} answer_unopened; `;
      expect(printed(ended)).toMatch(new RegExp(`${told}.*${detail}; ${whereItIs(String(sent))}`));
      expect(printed(ended)).not.toMatch(/unknown whether|no (order|refund)/);
      expect(ended.code).toBeGreaterThan(0);
    };

    it('says that the bank has it, and keeps the id, where the egress says so', async () => {
      const type = 'urn:session-broker:problem:answer_unopened';
      const problem = { type, title: 'Not opened', status: 502, code: 'answer_unopened', detail: 'the detail' };
      expectUnopened(await outputOf({ status: 502, body: JSON.stringify(problem) }), 'the detail');
    });

    if (operation === 'create-order') {
      it('says that the bank has the order where there is nowhere to send the customer to', async () => {
        const ended = await outputOf({ status: 200, body: JSON.stringify({ ...answer, redirectUrl: null }) });
        expect(printed(ended)).toContain('the bank HAS the order of-a-stranger, but names no redirectUrl ');
        expect(printed(ended)).not.toMatch(/send the customer to (?:\n|http|None|null)/);
        expect(ended.code).toBeGreaterThan(0);
      });
    }

    if (isSealed) {
      it('says that the bank has it where its answer does not open', async () => {
        await fault({ kind: 'wrong_key' });
        expectUnopened(
          await output(),
          'the bank has the request: look it up by its merchantRequestId, at payments.v1.operation.by_merchant_request_id',
        );
      });
    }

    it('sends it again under the id that it is given, and says that the bank has one', async () => {
      const MERCHANT_REQUEST_ID = randomUUID();
      const first = await output({ MERCHANT_REQUEST_ID: `${MERCHANT_REQUEST_ID}\n` });
      expect(first.stdout).toMatch(success);
      expect(first.stderr).toContain(`${sending} ${MERCHANT_REQUEST_ID}\n`);
      const ended = await output({ MERCHANT_REQUEST_ID });
      expect(printed(ended)).toMatch(
        new RegExp(
          `the bank has a request with this id already${duplicate}: 400${WORDS} b_duplicate_field_value; .*; ` +
            whereItIs(MERCHANT_REQUEST_ID),
        ),
      );
      expect(printed(ended)).not.toMatch(/no (order|refund)|unknown whether/);
      expect(ended.code).toBeGreaterThan(0);
    });

    it('says of one that was sent before no more than that this request was refused', async () => {
      const MERCHANT_REQUEST_ID = randomUUID();
      const says = `no ${what} by this request, while one that was sent before may be there`;
      const refused = await output({ MERCHANT_REQUEST_ID, MERCHANT_ID: 'of-nobody' });
      expect(printed(refused)).toMatch(new RegExp(`${says}: 200${WORDS} b_\\w+; `));
      const unsent = await output({ MERCHANT_REQUEST_ID, EGRESS_URL: `http://127.0.0.1:${await freePort()}` });
      expect(printed(unsent)).toContain(`${says}, for it was not sent: nothing answers at http`);
    });

    it('says the detail and the cause of a refusal', async () => {
      const texts = { title: 'There is none', detail: 'the detail', cause: 'the cause' };
      const type = 'urn:session-broker:problem:session_unavailable';
      const problem = { type, status: 503, code: 'session_unavailable', ...texts };
      expect(printed(await outputOf({ status: 503, body: JSON.stringify(problem) }))).toMatch(
        new RegExp(`no ${what}: 503${WORDS} session_unavailable; There is none; the detail; the cause`),
      );
    });

    it('follows nobody to another host, with the token or without', async () => {
      const elsewhere = started.add(await somebody({ status: 200, body: JSON.stringify(answer) }), (it) => it.close());
      const ended = await outputOf({ status: 302, headers: { location: `${urlOf(elsewhere)}/` } });
      expect(elsewhere.connections).toBe(0);
      expect(unknownOf(ended, played).says).toMatch(/^302 /);
    });
  });
});
