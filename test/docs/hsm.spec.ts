import { readFileSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { tokenFaults } from '#libs/pkcs11';

const root = join(import.meta.dirname, '..', '..');
const textOf = (file: string): string => readFileSync(join(root, file), 'utf8');
const page = textOf('docs/hsm.md');

describe('docs/hsm.md', () => {
  it('lists exactly the faults of tokens, in the order and the words of the code', () => {
    const section = page.slice(page.indexOf('## Faults'), page.indexOf('## From a file'));
    const rows = [...section.matchAll(/^\| `([a-z0-9_]+)` +\| (.+?) +\|$/gm)].map(([, name, means]) => [name, means]);
    expect(rows).toEqual(Object.entries(tokenFaults));
  });
});

/** The stages of a Dockerfile, each as its lines without comments. */
const stagesOf = (text: string): readonly (readonly string[])[] =>
  text
    .split(/^(?=FROM )/m)
    .filter((stage) => stage.startsWith('FROM '))
    .map((stage) => stage.split('\n').filter((line) => line.trim() !== '' && !line.startsWith('#')));

describe('the Dockerfile of docs/hsm.md', () => {
  const dockerfile = textOf('deploy/Dockerfile');
  const [, snippet = ''] = /```dockerfile\n([^]*?)```/.exec(page) ?? [];
  const [module = [], image = []] = stagesOf(snippet);
  /** What the last stage copies: source and target. */
  const copies = image.slice(1).map((line) => /^COPY (?:--from=module )?(\S+) (\S+)$/.exec(line)?.slice(1) ?? []);

  it('compiles with the Node.js and on the Debian that the image has', () => {
    const [, base = ''] = /^ARG NODE_IMAGE=(\S+)-slim$/m.exec(dockerfile) ?? [];
    expect(module[0]).toBe(`FROM ${base} AS module`);
  });

  it('installs what the image installs, and compiles by a script that is there', () => {
    const [build = []] = stagesOf(dockerfile);
    const installs = build.slice(1, build.indexOf('RUN npm ci --ignore-scripts'));
    expect(installs.length).toBeGreaterThan(2);
    expect(module.slice(1, -1)).toEqual(installs);
    const [, script = ''] = /^RUN npm ci --ignore-scripts && npm run (\S+)$/.exec(module.at(-1) ?? '') ?? [];
    const { scripts } = JSON.parse(textOf('package.json')) as { scripts: Record<string, string> };
    expect(Object.keys(scripts)).toContain(script);
  });

  it('takes the compiled part from where it is made, and puts it where the package asks for it', () => {
    const [, asked = ''] = /require\("\.\/(\S+\.node)"\)/.exec(textOf('node_modules/pkcs11js/index.js')) ?? [];
    const inPackage = join('node_modules/pkcs11js', asked);
    // The second is below the image's folder, that of the programs.
    expect(copies[0]).toEqual([join('/build', inPackage), `${dirname(inPackage)}/`]);
    expect(module).toContain('WORKDIR /build');
    expect(textOf('tools/build-pkcs11.mjs')).toContain(`'${asked.split('/').join("', '")}'`);
  });

  it('adds to the image, and leaves its folder, its user and its command as they are', () => {
    expect(image.map((line) => line.split(' ')[0])).toEqual(['FROM', 'COPY', 'COPY']);
  });

  it('has the module where the page has the key file name it', () => {
    const [from = '', folder = ''] = copies[1] ?? [];
    const [, named] = /`module-path` in the\s+key file is then `([^`]+)`/.exec(page) ?? [];
    expect(named).toBe(`${folder}${basename(from)}`);
  });
});
