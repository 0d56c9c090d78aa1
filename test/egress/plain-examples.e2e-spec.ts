import { execFile } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { describeWith, endedAfterAll, freePort, toolPath } from '#libs/testing';
import { EgressStage } from './egress-stage.js';
import type { RunningEgress } from './running-egress.js';

const run = promisify(execFile);
const fileOf = (name: string): string => fileURLToPath(new URL(`../../docs/examples/${name}`, import.meta.url));

interface Ended {
  readonly code?: number;
  readonly stdout: string;
  readonly stderr: string;
}

describe.each<[tool: string, file: string, args: readonly string[]]>([
  ['python3', 'order.py', []],
  ['php', 'order.php', []],
  ['go', 'order.go', ['run']],
])('the example of the egress for %s', (tool, file, args) => {
  describeWith([tool], 'as it stands', () => {
    let stage: EgressStage;
    let egress: RunningEgress;
    let cache: string;

    const started = endedAfterAll();
    beforeAll(async () => {
      cache = started.add(await mkdtemp(join(tmpdir(), 'plain-examples-')), (it) => rm(it, { recursive: true }));
      stage = started.add(await EgressStage.start(), (it) => it.close());
      egress = await stage.egress();
    });

    const output = (variables: Readonly<Record<string, string>> = {}): Promise<Ended> => {
      const go = { GOCACHE: cache, GOFLAGS: '-mod=mod', GOPROXY: 'off', GOTOOLCHAIN: 'local' };
      const own = { EGRESS_URL: egress.url, EGRESS_TOKEN: egress.client().token, MERCHANT_ID: 'terminal-1' };
      const env = { ...process.env, ...go, ...own, ...variables };
      const running = run(toolPath(tool), [...args, fileOf(file)], { env, timeout: 170_000 });
      return running.catch((error: unknown) => error as Ended);
    };

    it('makes an order, with a token that a line break follows', async () => {
      const { stdout } = await output({ EGRESS_TOKEN: `${egress.client().token}\n` });
      expect(stdout).toMatch(/^order [\w-]+ is CREATED\n$/);
    });

    it.each<[string, () => Promise<Readonly<Record<string, string>>>, RegExp]>([
      [
        'the egress refuses',
        async () => ({ EGRESS_TOKEN: 'canary' }),
        /no order: unauthenticated: No valid credential/,
      ],
      ['the bank refuses', async () => ({ MERCHANT_ID: 'of-nobody' }), /no order: b_\w+: /],
      [
        'nothing answers',
        async () => ({ EGRESS_URL: `http://127.0.0.1:${await freePort()}` }),
        /no answer of the egress.*; ask for the state of order [\w-]+/,
      ],
      ['the token is none', async () => ({ EGRESS_TOKEN: 'can\nary' }), /set EGRESS_URL and EGRESS_TOKEN/],
    ])('says what is to be done when %s', async (_what, variables, says) => {
      const { code, stdout, stderr } = await output(await variables());
      expect(`${stdout}${stderr}`).toMatch(says);
      expect(`${stdout}${stderr}`).not.toMatch(/canary|\nary/);
      expect(code).toBeGreaterThan(0);
    });
  });
});
