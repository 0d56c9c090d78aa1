import { mkdtemp, mkdir, rm, writeFile } from 'node:fs/promises';
import { cpus, tmpdir, totalmem } from 'node:os';
import { dirname, join } from 'node:path';
import { parseArgs } from 'node:util';
import { describeError } from '#libs/errors';
import { endAll, run } from './child-processes.js';
import { copyOfCheckout } from './checkout.js';
import { DebianArchives } from './debian-archives.js';
import { Demo, IMAGE } from './demo.js';
import { engineOfThisMachine, type Engine } from './engine.js';
import { OwnEngine } from './own-engine.js';
import { lookAtAll, type Proof, type Result, tableOf } from './proof.js';
import { buildProofs, secondStart } from './start-proofs.js';
import { lastProofs, stateProofs } from './state-proofs.js';

const { values } = parseArgs({
  options: {
    /** A folder that keeps the systems made of Debian's packages for another run. */
    cache: { type: 'string' },
    /** In minutes, for a machine that is busy with other things. */
    within: { type: 'string', default: '15' },
  },
});
if (process.getuid?.() !== 0) throw new Error('this needs root, on Debian');

const startedMs = performance.now();
const scratch = await mkdtemp(join(tmpdir(), 'session-broker-containers-'));
const opened: { engine?: Engine; demo?: Demo } = {};
let closing: Promise<void> | undefined;

/** Happens once, whoever calls it: nothing that was started or made is left behind. */
function close(): Promise<void> {
  closing ??= (async () => {
    await opened.demo?.remove();
    await opened.engine?.close();
    await endAll();
    await rm(scratch, { recursive: true, force: true });
  })();
  return closing;
}

async function giveUp(why: string): Promise<void> {
  console.error(why);
  // Work in progress is not waited for: the namespaces end with their process 1.
  if (opened.engine?.inside.length !== 0) delete opened.demo;
  await close();
  process.exit(1);
}
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const)
  process.once(signal, () => void giveUp(`ended by ${signal}`));
setTimeout(() => void giveUp(`not done after ${values.within} minutes`), Number(values.within) * 60_000).unref();

async function startEngine(): Promise<Engine> {
  const folder = join(scratch, 'project');
  const own = await engineOfThisMachine(folder);
  if (own !== undefined) {
    if ((await run(['docker', 'image', 'inspect', IMAGE])).code === 0)
      throw new Error(`the engine has an image ${IMAGE}, which would be lost: docker image rm ${IMAGE}`);
    await copyOfCheckout(folder, Demo.leavingOut(own.leftOut));
    opened.engine = own;
    return own;
  }
  if (values.cache !== undefined) await mkdir(values.cache, { recursive: true });
  return OwnEngine.start(
    {
      scratch,
      archives: new DebianArchives(values.cache ?? scratch),
      copyCheckout: (to) => copyOfCheckout(to, Demo.leavingOut(['grafana'])),
      npm: dirname(dirname(process.env['npm_execpath'] ?? '/usr/lib/node_modules/npm/bin/npm-cli.js')),
    },
    (made) => (opened.engine = made),
  );
}

/** So that whoever waits sees how far it is. */
const tell = ({ what, seen, wrong }: Result): void =>
  console.error(`${what}: ${seen}${wrong.map((one) => `; WRONG: ${one}`).join('')}`);

/** Nothing is looked at any more while the run is being ended, and this program with it. */
const unlessEnding = (proof: Proof): Proof => ({
  ...proof,
  look: async (demo) => {
    if (closing !== undefined) await closing.then(() => new Promise(() => undefined));
    return proof.look(demo);
  },
});

const minutes = (): string => `${((performance.now() - startedMs) / 60_000).toFixed(1)} min`;

try {
  const engine = await startEngine();
  console.error(`${engine.description}, after ${minutes()}`);
  await engine.prepareImages();
  console.error(`base images, after ${minutes()}`);
  const demo = new Demo(engine);
  opened.demo = demo;
  const proofs = [...buildProofs, ...stateProofs, secondStart, ...lastProofs];
  const results = await lookAtAll(proofs.map(unlessEnding), demo, tell);
  if (values.cache !== undefined) await writeFile(join(values.cache, 'last-table.md'), tableOf(results));
  await close();
  const gibibytes = Math.round(totalmem() / 2 ** 30);
  console.log(tableOf(results));
  console.log(`\n${engine.description}; ${cpus().length} processors, ${gibibytes} GiB; ${minutes()} in all`);
  const passed = results.filter(({ wrong }) => wrong.length === 0).length;
  console.log(`${passed} of ${proofs.length} proofs passed`);
  process.exit(passed === proofs.length ? 0 : 1);
} catch (error) {
  await giveUp(describeError(error));
}
