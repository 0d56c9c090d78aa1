import { globSync, readdirSync, readFileSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { errorCodes, unavailableReasons } from '#libs/errors';
import { tokenFaults } from '#libs/pkcs11';
import { helpFor } from '#libs/causes';
import { root } from '../architecture/rule-tables.js';

const read = (path: string): string => readFileSync(join(root, path), 'utf8');

/** The rows of the first table of a Markdown text, each as its cells without backticks. */
function tableRows(markdown: string): string[][] {
  const lines = /(?:^\|.*\n)+/m.exec(markdown)?.[0].trimEnd().split('\n') ?? [];
  const cells = (line: string): string[] =>
    line
      .split('|')
      .slice(1, -1)
      .map((cell) => cell.replaceAll('`', '').trim());
  return lines.slice(2).map(cells);
}

/** Where the client package gives an error its code; the gateway's own codes begin with `b_`. */
const MADE_ERROR = /(?:new [A-Z]\w+\(\s*|super\(|[{] code: |(?=.answer_))'(?!b_)([a-z_]+)'/g;

describe('the reference', () => {
  it('lists exactly the error codes of the registry, with their status, retry and title, and what to do', () => {
    const registry = Object.entries(errorCodes).map(([code, { status, retryable, title }]) => [
      code,
      String(status),
      retryable ? 'yes' : 'no',
      title,
    ]);
    const rows = tableRows(read('docs/reference/errors.md'));
    expect(rows.map((row) => row.slice(0, 4))).toEqual(registry);
    expect(rows.filter(([, , , , remedy = '']) => remedy.length < 10)).toEqual([]);
  });

  it('lists exactly the reasons for which there is no session, in the words of the code', () => {
    const [, reasons = ''] = read('docs/reference/errors.md').split('\n## Why there is no session\n');
    expect(tableRows(reasons)).toEqual(
      Object.entries(unavailableReasons).map(([reason, caller]) => {
        const { remedy, runbook } = helpFor(reason) ?? {};
        return [reason, caller, remedy, `[${runbook}](../runbooks/${runbook}.md)`];
      }),
    );
  });

  it('lists exactly the codes of the client package, each with what to do', () => {
    const [, section = ''] = read('docs/reference/errors.md').split('\n## Errors of the client package\n');
    const rows = tableRows(section);
    const ofClient = globSync('libs/client/src/**/*.ts', { cwd: root })
      .filter((file) => !/spec|arbitrary|\/testing\//.test(file))
      .flatMap((file) => [...read(file).matchAll(MADE_ERROR)])
      .map(([, code = '']) => code);
    expect(rows.map(([code]) => code).sort()).toEqual([...new Set(ofClient)].sort());
    expect(rows.filter((row) => (row[3] ?? '').length < 5)).toEqual([]);
    // What became of a payment is told by the words of the egress.
    const ofPayments = rows.map(([code = '']) => code).filter((code) => /^answer_(?!invalid|too)/.test(code));
    expect(new Set(ofPayments)).toEqual(new Set(Object.keys(errorCodes).filter((code) => code.startsWith('answer_'))));
  });

  it('has every decision in its index, and no decision in it that is not there', () => {
    const decisions = readdirSync(join(root, 'docs/adr')).filter((file) => /^\d{4}-.*\.md$/.test(file));
    const indexed = [...read('docs/adr/README.md').matchAll(/\]\((\d{4}-[^)]+\.md)\)/g)].map(([, file]) => file);
    expect(indexed).toEqual(decisions.sort());
  });
});

const sectionOf = (page: string, heading: string): string =>
  page.split(`\n## ${heading}\n`)[1]?.split('\n## ')[0] ?? '';
const rowsOf = (section: string): string[][] =>
  [...section.matchAll(/^\| (`.+) \|$/gm)].map(([, row = '']) => row.split(' | ').map((cell) => cell.trim()));
const codesOf = (cell = ''): string[] => [...cell.matchAll(/`([^`]+)`/g)].map(([, code = '']) => code);

describe('the README', () => {
  const readme = read('README.md');

  it('has keys and configurations of production outside the clone, and git takes no key', () => {
    const [, commands = ''] = /```sh\n([^]*?)```/.exec(sectionOf(readme, 'Run it in production')) ?? [];
    const files = [...commands.matchAll(/[\w./-]+\.(?:json|yaml)\b/g)].map(([file]) => file);
    expect(files.length).toBeGreaterThan(4);
    expect(files.filter((file) => !/^(?:\.\.\/own|docs\/examples)\//.test(file))).toEqual([]);
    expect(read('.gitignore').split('\n')).toContain('*.jwk.json');
  });
});

describe('the settings that decide most', () => {
  const page = read('docs/configuration.md');
  const chosen = rowsOf(sectionOf(page, 'The settings that decide most'));
  const all = new Map(
    rowsOf(read('docs/reference/broker-settings.md')).map(([name, , fallback]) => [codesOf(name)[0], fallback]),
  );

  it.each(chosen)('are settings, with the default that they have: %s', (name, fallback) => {
    const [first = ''] = codesOf(name);
    expect([...all.keys()].filter((known) => known === first || known?.startsWith(first))).not.toEqual([]);
    if (codesOf(fallback).length === 1) expect(codesOf(all.get(first))).toEqual(codesOf(fallback));
  });
});

const hsm = read('docs/hsm.md');

describe('docs/hsm.md', () => {
  it('lists exactly the faults of tokens, in the order and the words of the code', () => {
    const section = hsm.slice(hsm.indexOf('## Faults'), hsm.indexOf('## From a file'));
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
  const [, snippet = ''] = /```dockerfile\n([^]*?)```/.exec(hsm) ?? [];
  const [module = [], image = []] = stagesOf(snippet);
  /** What the last stage copies: source and target. */
  const copies = image.slice(1).map((line) => /^COPY (?:--from=module )?(\S+) (\S+)$/.exec(line)?.slice(1) ?? []);

  it('compiles with the Node.js and on the Debian that the image has', () => {
    const [, base = ''] = /^ARG NODE_IMAGE=(\S+)-slim$/m.exec(read('deploy/Dockerfile')) ?? [];
    expect(module[0]).toBe(`FROM ${base} AS module`);
  });

  it('takes the compiled part from where it is made, and puts it where the package asks for it', () => {
    const [, asked = ''] = /require\("\.\/(\S+\.node)"\)/.exec(read('node_modules/pkcs11js/index.js')) ?? [];
    const inPackage = join('node_modules/pkcs11js', asked);
    // The second is below the image's folder, that of the programs.
    expect(copies[0]).toEqual([join('/build', inPackage), `${dirname(inPackage)}/`]);
    expect(module).toContain('WORKDIR /build');
    expect(read('tools/build-pkcs11.mjs')).toContain(`'${asked.split('/').join("', '")}'`);
  });

  it('has the module where the page has the key file name it', () => {
    const [from = '', folder = ''] = copies[1] ?? [];
    const [, named] = /`module-path` in the\s+key file is then `([^`]+)`/.exec(hsm) ?? [];
    expect(named).toBe(`${folder}${basename(from)}`);
  });
});
