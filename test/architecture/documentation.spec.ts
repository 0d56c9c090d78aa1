import { globSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { errorCodes, unavailableReasons } from '#libs/errors';
import { loadRuleTables, root } from './rule-tables.js';

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
const MADE_ERROR = /(?:new [A-Z]\w+\(\s*|super\(|[{] code: )'(?!b_)([a-z_]+)'/g;

const decisions = readdirSync(join(root, 'docs/adr'))
  .filter((file) => /^\d{4}-.*\.md$/.test(file))
  .sort();

describe('the documentation', () => {
  it('lists exactly the error codes of the registry, with their status, retry and title', () => {
    const registry = Object.entries(errorCodes).map(([code, { status, retryable, title }]) => [
      code,
      String(status),
      retryable ? 'yes' : 'no',
      title,
    ]);
    const documented = tableRows(read('docs/errors.md')).map((row) => row.slice(0, 4));
    expect(documented).toEqual(registry);
  });

  it('says what to do about every error code', () => {
    const silent = tableRows(read('docs/errors.md')).filter((row) => (row[4] ?? '').length < 10);
    expect(silent).toEqual([]);
  });

  it('lists exactly the reasons for which there is no session, in the words of the code', () => {
    const [, reasons = ''] = read('docs/errors.md').split('\n## Why there is no session\n');
    expect(tableRows(reasons)).toEqual(
      Object.entries(unavailableReasons).map(([reason, { caller, page, runbook }]) => [
        reason,
        caller,
        page,
        `[${runbook}](runbooks/${runbook}.md)`,
      ]),
    );
  });

  it('lists exactly the codes of the client package, each with what to do', () => {
    const [, section = ''] = read('docs/errors.md').split('\n## Errors of the client package\n');
    const rows = tableRows(section);
    const ofClient = globSync('libs/client/src/**/*.ts', { cwd: root })
      .filter((file) => !/spec|arbitrary|\/testing\//.test(file))
      .flatMap((file) => [...read(file).matchAll(MADE_ERROR)])
      .map(([, code = '']) => code);
    expect(rows.map(([code]) => code).sort()).toEqual([...new Set(ofClient)].sort());
    expect(rows.filter((row) => (row[3] ?? '').length < 10)).toEqual([]);
  });

  it('shows the import table as lint holds it', async () => {
    const { libLayers, appLayers } = await loadRuleTables();
    const rows = (kind: string, layers: Readonly<Record<string, readonly string[]>>): string[][] =>
      Object.entries(layers).map(([name, deps]) => [`${kind}/${name}`, deps.join(', ') || 'nothing']);
    const documented = tableRows(read('docs/adr/0001-module-layout-and-import-directions.md'));
    expect(documented).toEqual([...rows('libs', libLayers), ...rows('apps', appLayers)]);
  });

  it('has every decision in its index, and no decision in it that is not there', () => {
    const indexed = [...read('docs/adr/README.md').matchAll(/\]\((\d{4}-[^)]+\.md)\)/g)].map(([, file]) => file);
    expect(indexed).toEqual(decisions);
  });

  it('keeps every decision to one page that says what must not be done', () => {
    const incomplete = decisions.filter((file) => {
      const text = read(`docs/adr/${file}`);
      const headings = ['## Context', '## Decision', '## Consequences', '## Must not'];
      return headings.some((heading) => !text.includes(`\n${heading}\n`)) || text.split('\n').length > 80;
    });
    expect(incomplete).toEqual([]);
  });
});
