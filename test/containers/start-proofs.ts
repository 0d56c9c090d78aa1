import { docker } from './engine.js';
import { type Demo, IMAGE, PROGRAMS, REPLICAS } from './demo.js';
import { finding, type Finding, type Proof } from './proof.js';

const seconds = (sinceMs: number): string => `${((performance.now() - sinceMs) / 1_000).toFixed(0)} s`;

async function build({ engine }: Demo): Promise<Finding> {
  const startedMs = performance.now();
  await docker(engine, 'build', '--network=host', '-f', 'deploy/Dockerfile', '-t', IMAGE, '.');
  const format = '{{.Size}} {{json .Config.Entrypoint}} {{.Config.User}}';
  const said = (await docker(engine, 'image', 'inspect', '--format', format, IMAGE)).trim();
  const [size = '', entrypoint = '', user = ''] = said.split(' ');
  const megabytes = Math.round(Number(size) / 1_000_000);
  return finding(
    `built in ${seconds(startedMs)}, ${megabytes} MB with its base; user ${user}, entrypoint ${entrypoint}`,
    {
      'it has an entrypoint': !['null', '[]'].includes(entrypoint),
      'it runs as another user': user !== '10001:10001',
    },
  );
}

async function firstStart(demo: Demo): Promise<Finding> {
  const startedMs = performance.now();
  await demo.up();
  return finding(`${PROGRAMS.join(', ')} healthy after ${seconds(startedMs)}`);
}

/** The image and the first start, from a checkout that only its owner may read. */
export const buildProofs: readonly Proof[] = [
  { what: 'the image, built by the Dockerfile of the project', look: build, carriesOthers: true },
  { what: '`up`, from a checkout made under umask 077', look: firstStart, carriesOthers: true },
];

/** The second start, with the volumes of the first. */
export const secondStart: Proof = {
  what: '`down` and `up` again with the volumes kept',
  look: async (demo) => {
    const before = await publicKey(demo);
    await demo.compose('down');
    const startedMs = performance.now();
    await demo.up();
    return finding(`healthy after ${seconds(startedMs)}, with the keys of the first start`, {
      'it has other keys': before !== (await publicKey(demo)),
    });
  },
};

function publicKey(demo: Demo): Promise<string> {
  const read = "console.log(require('node:fs').readFileSync('/run/keys/public.jwk.json', 'utf8'))";
  return demo.inContainer(REPLICAS[0] ?? '', 'node', '-e', read);
}
