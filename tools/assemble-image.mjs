// Puts the contents of the image into a new folder: the programs, each bundled with the package code it uses, the
// package files that they load as well, the name and licence of every package, and a bill of materials. The Dockerfile
// calls this script, and a test starts what it produces.
//   npm ci && npm run build && node tools/assemble-image.mjs <folder>
import { chmodSync, cpSync, existsSync, mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';
import { cycloneDxOf } from './bills-of-materials.mjs';

const root = dirname(dirname(fileURLToPath(import.meta.url)));
const bundle = 'dist/programs';

/**
 * What the bundle loads at run time from packages. The native part of pkcs11js is compiled for one processor, if there
 * is a compiler: docs/hsm.md says who adds it.
 */
const askedFor = [
  'node_modules/@grpc/grpc-js/build/src/index.js',
  'node_modules/pkcs11js/index.js',
  'node_modules/swagger-ui-dist/absolute-path.js',
];

/** What is read as a file and never imported. */
const assets = [
  'package.json',
  ...filesBelow(bundle, /./),
  ...filesBelow('node_modules/@grpc/grpc-js/proto', /./),
  ...filesBelow(
    'node_modules/swagger-ui-dist',
    /^(?:swagger-ui\.css|index\.css|swagger-ui-(?:bundle|standalone-preset)\.js|favicon.*)$/,
  ),
];

/** `debug` colours its lines if this is present, and here it is a development dependency only. */
const unwanted = ['supports-color'];

/** The user of the image owns none of it, and the checkout may be readable by its owner only. */
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

/** `node_modules/a/node_modules/@b/c` for a file in that package. */
function packageOf(file) {
  return /^(?:.*\/)?node_modules\/(?:@[^/]+\/)?[^/]+/.exec(file)?.[0];
}

/** The files that a bundle of the given ones would consist of. */
async function filesReached(entryPoints) {
  const { metafile } = await build({
    absWorkingDir: root,
    entryPoints,
    bundle: true,
    write: false,
    outdir: 'dist/traced',
    platform: 'node',
    external: [...unwanted, '*.node'],
    metafile: true,
    logLevel: 'error',
  });
  return Object.keys(metafile.inputs).flatMap((file) => [file, ...manifestsAround(file)]);
}

/** A folder within a package may have a manifest that says of which kind its modules are. */
function manifestsAround(file) {
  const [folder, inner] = [packageOf(file), dirname(file)];
  if (folder === undefined || inner === folder) return [];
  const manifest = join(inner, 'package.json');
  return [...(existsSync(join(root, manifest)) ? [manifest] : []), ...manifestsAround(inner)];
}

async function neededFiles() {
  const reached = await filesReached(askedFor);
  const { packages: bundled } = JSON.parse(readFileSync(join(root, bundle, 'contents.json'), 'utf8'));
  const packages = new Set([...bundled, ...[...reached, ...assets].map(packageOf).filter(Boolean)]);
  const legal = [...packages].flatMap((folder) => [join(folder, 'package.json'), ...filesBelow(folder, licence)]);
  const all = new Set([...reached, ...assets, ...legal]);
  return { files: [...all].sort(), packages: [...packages].sort() };
}

/** A package that is needed at run time must be a dependency, not a dev dependency that happens to be installed. */
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
// The name that people use for the command line.
const launcher = join(out, 'bin', 'session-broker');
mkdirSync(dirname(launcher));
cpSync(join(root, 'bin', 'session-broker'), launcher);
chmodSync(launcher, EXECUTABLE);
// The date of the source, not of the build: two images of one commit have the same content.
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
