// Bundles each program, with the package code it uses, into a few files: a start then reads and compiles tens of files
// instead of two thousand. `npm run build` calls it once the sources are compiled; docs/adr/0039 says why it is safe to
// run the result.
//   dist/programs/<program>.js   what is started
//   dist/programs/*.js.map       which line of which source a line comes from
//   dist/programs/contents.json  the packages in it
//   dist/programs/docs           the runbooks, as text and for a browser
import { cpSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';
import { writeRunbookPages } from './runbook-pages.mjs';

const root = dirname(dirname(fileURLToPath(import.meta.url)));
const out = 'dist/programs';

/** The programs, and what a program starts in turn, which it looks for next to its own file. */
const entryPoints = [
  ...['broker', 'cli', 'egress', 'sandbox'].map((app) => ({ in: `dist/apps/${app}/src/main.js`, out: app })),
  { in: 'dist/libs/pkcs11/src/token-process-entry.js', out: 'token-process-entry' },
];

/** What is read as a file and never imported. */
const assets = { 'dist/libs/status-page/src/page': 'page', 'dist/docs': 'docs' };

const ASSET = /\.(?:html|css|js|svg|md)$/;

const external = [
  // Compiled for one processor, if there is a compiler.
  'pkcs11js',
  // Loaded under two names at run time: there must be only one copy of it.
  '@grpc/grpc-js',
  // `debug` colours its lines if it is present; here it is a development dependency only.
  'supports-color',
  // Nest loads them only if an application uses them. They are not installed.
  '@nestjs/microservices',
  '@nestjs/microservices/*',
  '@nestjs/platform-express',
  '@nestjs/websockets/*',
  '@fastify/multipart',
  '@fastify/view',
];

/**
 * Package files that look for other files relative to themselves, which do not exist next to a bundle, and why that
 * does no harm.
 */
const lookers = {
  '@nestjs/common/utils/load-package.util.js': 'packages that are not installed',
  '@nestjs/mapped-types/dist/type-helpers.utils.js': 'types made of others, of which we have none',
  '@nestjs/swagger/dist/swagger-ui/swagger-ui.js': 'swagger-ui-dist, which is found from here as well',
  '@opentelemetry/otlp-grpc-exporter-base/dist/_virtual/_rolldown/runtime.mjs': '@grpc/grpc-js, found as well',
  'commander/lib/command.js': 'subcommands in files of their own, of which we have none',
  'fast-json-stringify/lib/standalone.js': 'code that it writes for others',
  'import-in-the-middle/index.js': 'instrumentations, of which we have none',
  'ioredis/built/Command.js': 'friendlier stacks, which are off',
  'pino/lib/transport.js': 'transports, of which we have none',
  'require-in-the-middle/index.js': 'instrumentations, of which we have none',
  'thread-stream/index.js': 'transports, of which we have none',
  'undici/index.js': 'its own frames in the stack of an error',
};
const LOOKS = /\b__dirname\b|\b__filename\b|\bimport\.meta\b|\bcreateRequire\b|\brequire\.resolve\b|\bnew Worker\b/;

/** `node_modules/a/node_modules/@b/c` for a file in that package. */
const packageOf = (file) => /^(?:.*\/)?node_modules\/(?:@[^/]+\/)?[^/]+/.exec(file)?.[0];

/** A new version of a package may begin to look for files: then the build fails here, rather than a program later. */
function assertNobodyLooks(files) {
  const unknown = files.filter((file) => {
    const own = file.replace(/^.*node_modules\//, '');
    return !Object.hasOwn(lookers, own) && LOOKS.test(readFileSync(join(root, file), 'utf8'));
  });
  if (unknown.length > 0) throw new Error(`looks for files that are not beside a bundle: ${unknown.join(', ')}`);
}

/**
 * Importing `node:http` reads each of its members, and one of them loads all of `fetch`, which nothing here uses: 30 ms
 * and 5 MiB. Requiring it does not.
 */
const requiredBuiltins = {
  name: 'required-builtins',
  setup({ onResolve, onLoad }) {
    onResolve({ filter: /^(?:node:)?https?$/ }, ({ path, kind }) =>
      kind === 'import-statement' ? { path, namespace: 'required' } : undefined,
    );
    onLoad({ filter: /./, namespace: 'required' }, ({ path }) => ({
      contents: `module.exports = require(${JSON.stringify(path)});`,
    }));
  },
};

/**
 * Nest creates a date formatter in each of its two loggers on load. We use our own logger, so no date is ever
 * formatted, but creating the first formatter loads language and time zone tables that stay in memory: 6 MiB. So the
 * formatters are created on first use.
 */
const formattersOnDemand = {
  name: 'formatters-on-demand',
  setup({ onLoad }) {
    onLoad({ filter: /[\\/]@nestjs[\\/]common[\\/]services[\\/](?:console-)?logger\.service\.js$/ }, ({ path }) => {
      const text = readFileSync(path, 'utf8');
      const [made, value] = /^const dateTimeFormatter = (new Intl\.DateTimeFormat\([^;]*\));$/m.exec(text) ?? [];
      if (made === undefined) throw new Error(`${path} makes its formatter in another way`);
      const uses = text.split('dateTimeFormatter').length - text.split('dateTimeFormatter.format(').length;
      if (uses !== 1) throw new Error(`${path} uses its formatter in another way`);
      const onDemand = `let formatter; const dateTimeFormatter = { format: (date) => (formatter ??= ${value}).format(date) };`;
      return { contents: text.replace(made, () => onDemand), loader: 'js' };
    });
  },
};

/**
 * Of the library of rules for bodies, only the form that is made of modules can be taken apart: in the other one, a start
 * loads telephone number rules for every country as well.
 */
const modulesOfRules = {
  name: 'modules-of-rules',
  setup({ onResolve, resolve }) {
    onResolve({ filter: /^class-validator$/ }, ({ path, kind, resolveDir }) =>
      kind === 'import-statement' ? resolve(`${path}/esm2015/index.js`, { kind, resolveDir }) : undefined,
    );
  },
};

rmSync(join(root, out), { recursive: true, force: true });
const { metafile } = await build({
  absWorkingDir: root,
  entryPoints,
  outdir: out,
  bundle: true,
  splitting: true,
  chunkNames: 'part-[hash]',
  platform: 'node',
  format: 'esm',
  target: 'node24',
  external,
  plugins: [requiredBuiltins, formattersOnDemand, modulesOfRules],
  // Nest finds and logs classes by their names.
  keepNames: true,
  // Makes what stays in memory a third shorter. Names and order are kept, so that a line can still be read.
  minifyWhitespace: true,
  lineLimit: 160,
  legalComments: 'none',
  sourcemap: 'linked',
  sourcesContent: false,
  // CommonJS packages load built-in modules with it.
  banner: {
    js: "import{createRequire as __createRequire}from'node:module';const require=__createRequire(import.meta.url);",
  },
  metafile: true,
  logLevel: 'warning',
});

/**
 * Functions get their names when they are created, which costs more than the request itself in code that runs for every
 * request. Only the names of classes are ever looked up, which begin with a capital letter, and a stack trace has the
 * source line. The replacement has the same length, so that the source maps stay correct.
 */
function nameClassesAlone(outputs) {
  const all = '(target,value)=>__defProp(target,"name",{value,configurable:true})';
  const classes = '(t,v)=>v>"@"&v<"["?__defProp(t,"name",{value:v,configurable:1}):t'.padEnd(all.length);
  const [file, ...others] = outputs.filter((each) => readFileSync(each, 'utf8').includes(all));
  if (file === undefined || others.length > 0) throw new Error('the bundler gives names in another way');
  writeFileSync(file, readFileSync(file, 'utf8').replace(all, classes));
}

nameClassesAlone(
  Object.keys(metafile.outputs)
    .filter((file) => file.endsWith('.js'))
    .map((file) => join(root, file)),
);
const inputs = Object.keys(metafile.inputs);
assertNobodyLooks(inputs.filter((file) => packageOf(file) !== undefined));
for (const [from, to] of Object.entries(assets)) {
  const filter = (path) => (statSync(path).isDirectory() ? basename(path) !== 'examples' : ASSET.test(path));
  cpSync(join(root, from), join(root, out, to), { recursive: true, filter });
}
writeRunbookPages(join(root, out, 'docs'));
const packages = [...new Set(inputs.map(packageOf).filter(Boolean))].sort();
writeFileSync(join(root, out, 'contents.json'), `${JSON.stringify({ packages }, null, 2)}\n`);
