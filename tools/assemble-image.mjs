// Puts what the image has into a new folder: the built programs, those files of their dependencies that they can load,
// licences, and a bill of materials. The Dockerfile calls it, and a test starts what it makes.
//   npm ci && npm run build && node tools/assemble-image.mjs <folder>
import { chmodSync, cpSync, existsSync, mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { nodeFileTrace } from '@vercel/nft';
import { cycloneDxOf } from './bills-of-materials.mjs';

const root = dirname(dirname(fileURLToPath(import.meta.url)));
const programs = ['broker', 'cli', 'egress', 'sandbox'].map((app) => `dist/apps/${app}/src/main.js`);

/** What is read as a file and never imported. */
const assets = [
  'package.json',
  ...filesBelow('dist/libs/status-page/src/page', /\.(?:html|css|js|svg)$/),
  ...filesBelow('dist/docs', /\.md$|^runbooks$/),
  ...filesBelow(
    'node_modules/swagger-ui-dist',
    /^(?:swagger-ui\.css|index\.css|swagger-ui-(?:bundle|standalone-preset)\.js|favicon.*)$/,
  ),
];

/**
 * `debug` colours its lines when the first is there, and here it is for development alone. The second is compiled for one
 * processor, where there is a compiler: docs/hsm.md says who adds it.
 */
const unwanted = ['**/node_modules/supports-color/**', '**/node_modules/pkcs11js/build/**'];

/** The user of the image owns none of it, and a checkout may have been made for its owner's eyes only. */
const READABLE = 0o644;
const EXECUTABLE = 0o755;
process.umask(0o022);

const licence = /^(?:licen[cs]e|notice|copying)/i;

function filesBelow(folder, name) {
  return readdirSync(join(root, folder)).flatMap((entry) => {
    if (!name.test(entry)) return [];
    const path = join(folder, entry);
    return statSync(join(root, path)).isDirectory() ? filesBelow(path, /./) : [path];
  });
}

/** `node_modules/a/node_modules/@b/c` of a file in that package. */
function packageOf(file) {
  return /^(?:.*\/)?node_modules\/(?:@[^/]+\/)?[^/]+/.exec(file)?.[0];
}

async function neededFiles() {
  const { fileList, esmFileList, reasons } = await nodeFileTrace(programs, { base: root, ignore: unwanted });
  const traced = [...fileList, ...esmFileList].filter((file) => statSync(join(root, file)).isFile());
  for (const program of programs) {
    if (!reasons.has(program)) throw new Error(`${program} is not there: npm run build`);
  }
  const packages = new Set([...traced, ...assets].map(packageOf).filter(Boolean));
  const legal = [...packages].flatMap((folder) => [join(folder, 'package.json'), ...filesBelow(folder, licence)]);
  const all = new Set([...traced, ...assets, ...legal]);
  return { files: [...all].sort(), packages: [...packages].sort() };
}

/** A package that is needed to run must be a dependency, and not one for development that happens to be there. */
function assertDeclared(packages) {
  const locked = JSON.parse(readFileSync(join(root, 'package-lock.json'), 'utf8')).packages;
  const undeclared = packages.filter((folder) => locked[folder]?.dev === true);
  if (undeclared.length > 0)
    throw new Error(`loaded by a program, and declared for development: ${undeclared.join(', ')}`);
}

function nameAndVersion(folder) {
  const { name, version } = JSON.parse(readFileSync(join(root, folder, 'package.json'), 'utf8'));
  return `${name}@${version}`;
}

const [folder] = process.argv.slice(2);
if (folder === undefined) throw new Error('say into which folder');
const out = resolve(folder);
if (existsSync(out) && readdirSync(out).length > 0) throw new Error(`${out} is not empty`);

const { files, packages } = await neededFiles();
assertDeclared(packages);
let bytes = 0;
for (const file of files) {
  mkdirSync(dirname(join(out, file)), { recursive: true });
  cpSync(join(root, file), join(out, file), { dereference: true });
  chmodSync(join(out, file), READABLE);
  bytes += statSync(join(root, file)).size;
}
// The name by which people call the command line.
const launcher = join(out, 'bin', 'session-broker');
mkdirSync(dirname(launcher));
cpSync(join(root, 'bin', 'session-broker'), launcher);
chmodSync(launcher, EXECUTABLE);
// The moment of what is built, not of building it: two images of one commit have the same content.
const epoch = process.env.SOURCE_DATE_EPOCH;
const date = epoch === undefined ? undefined : new Date(1000 * Number(epoch));
const bill = await cycloneDxOf(new Set(packages.map(nameAndVersion)), date);
writeFileSync(join(out, 'sbom.cdx.json'), JSON.stringify(bill, null, 2));
console.log(
  JSON.stringify({
    files: files.length,
    megabytes: Math.round(bytes / 100_000) / 10,
    packages: packages.length,
    components: bill.components.length,
  }),
);
