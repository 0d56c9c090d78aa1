// Builds libs/client into dist/client, a folder that can be published as it is: `npm publish ./dist/client`. Another
// folder name may be given, but it stays in dist/: source maps refer to their sources by relative path. It is built in
// two formats, for `import` and for `require`.
import { spawnSync } from 'node:child_process';
import { copyFileSync, cpSync, globSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import ts from 'typescript';

const root = dirname(dirname(fileURLToPath(import.meta.url)));
const source = join(root, 'libs', 'client');
const [name = 'client'] = process.argv.slice(2);
const target = join(root, 'dist', name);
const esm = join(target, 'dist/esm');
const cjs = join(target, 'dist/cjs');

rmSync(target, { recursive: true, force: true });
mkdirSync(target, { recursive: true });
const compiler = join(root, 'node_modules', 'typescript', 'bin', 'tsc');
const { status } = spawnSync(process.execPath, [compiler, '-p', source, '--outDir', esm], { stdio: 'inherit' });
if (status !== 0) process.exit(status ?? 1);

// The checked sources are transpiled once more, file by file. The type declarations are the same text in both formats.
cpSync(esm, cjs, { recursive: true, filter: (file) => !/\.js(\.map)?$/.test(file) });
writeFileSync(join(cjs, 'package.json'), '{ "type": "commonjs" }\n');
const { config } = ts.readConfigFile(join(source, 'tsconfig.json'), ts.sys.readFile);
const { options } = ts.parseJsonConfigFileContent(config, ts.sys, source);
const compilerOptions = { ...options, module: ts.ModuleKind.CommonJS, verbatimModuleSyntax: false, declaration: false };
for (const file of globSync('**/*.js', { cwd: esm })) {
  const fileName = join(source, 'src', file.replace(/\.js$/, '.ts'));
  const { outputText, sourceMapText } = ts.transpileModule(readFileSync(fileName, 'utf8'), {
    compilerOptions: { ...compilerOptions, sourceRoot: relative(dirname(join(cjs, file)), dirname(fileName)) },
    fileName,
  });
  writeFileSync(join(cjs, file), outputText);
  writeFileSync(join(cjs, `${file}.map`), sourceMapText);
}

// What its own tests need is of no concern to those who install it.
const { devDependencies: _, ...manifest } = JSON.parse(readFileSync(join(source, 'package.json'), 'utf8'));
writeFileSync(join(target, 'package.json'), `${JSON.stringify(manifest, undefined, 2)}\n`);
copyFileSync(join(source, 'README.md'), join(target, 'README.md'));
copyFileSync(join(root, 'LICENSE'), join(target, 'LICENSE'));
