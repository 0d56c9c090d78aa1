import { ESLint } from 'eslint';
import { root } from '../../architecture/rule-tables.js';

/** Existing files that stand for their kind: the rules apply by path. */
const production = 'libs/session/src/session.ts';
const clock = 'libs/clock/src/clock.ts';
const clientTime = 'libs/client/src/time.ts';
const client = 'libs/client/src/session-broker.ts';
const entry = 'apps/broker/src/main.ts';
const test = 'test/verify/architecture/lint-rules.verify-spec.ts';

/** One or two for each selector, with a word of what is said. */
const refused = [
  ['Clock', 'export const at = Date.now();'],
  ['Clock', 'export const at = new Date();'],
  ['Clock', 'export const at = Date();'],
  ['Clock', 'export const at = performance.now();'],
  ['Clock', 'setTimeout(() => f(), 5);'],
  ['Clock', 'globalThis.setInterval(() => f(), 5);'],
  ['Clock', 'export const end = AbortSignal.timeout(5);'],
  ['environment', 'export const all = process["env"];'],
  ['environment', 'export const { env } = process;'],
  ['Named exports', 'export default function f() {}'],
  ['union', 'export enum Colour { red }'],
  ['swallow', 'try { f(); } catch { /* fine */ }'],
  ['swallow', 'f().catch(() => {});'],
  ['literal', 'export const m = import(name);'],
  ['libs/gateway', 'export const answer = fetch(url);'],
  ['executed', 'export const a = eval("1");'],
  ['executed', 'export const f = new Function("1");'],
  ['import statement', 'export const fs = process.getBuiltinModule("fs");'],
] as const;

const accepted = [
  [production, 'export const at = new Date(5);'],
  [production, 'try { f(); } catch (error) { g(error); }'],
  [production, 'export const m = import("./inner.js");'],
  [clock, 'export const at = Date.now();'],
  [clientTime, 'export const at = Date.now();'],
  [entry, 'export const all = process.env;'],
  [test, 'export const at = Date.now();'],
] as const;

describe('the source rules', () => {
  const eslint = new ESLint({
    cwd: root,
    ruleFilter: ({ ruleId }) => ruleId === 'no-restricted-syntax',
    // These rules need no types, and building a program of the whole checkout takes seconds.
    overrideConfig: { languageOptions: { parserOptions: { project: null } } },
  });
  const faultsOf = async (file: string, source: string): Promise<string[]> => {
    const [result] = await eslint.lintText(source, { filePath: `${root}${file}` });
    return result!.messages.map(({ message }) => message);
  };

  it.each(refused)('speak of %s: %s', async (message, source) => {
    expect(await faultsOf(production, source)).toEqual([expect.stringContaining(message)]);
  });

  it.each(accepted)('accept in %s: %s', async (file, source) => {
    expect(await faultsOf(file, source)).toEqual([]);
  });

  it('hold outside the home of what they guard, even where another exception applies', async () => {
    expect(await faultsOf(clock, 'export const port = process.env["PORT"];')).toHaveLength(1);
    expect(await faultsOf(clientTime, 'export const port = process.env["PORT"];')).toHaveLength(1);
    expect(await faultsOf(client, 'export const at = Date.now();')).toHaveLength(1);
    expect(await faultsOf(entry, 'export const at = Date.now();')).toHaveLength(1);
    expect(await faultsOf(test, 'export default 1;')).toHaveLength(1);
  });

  it('cannot be switched off in a comment', async () => {
    const source = '// eslint-' + 'disable-next-line no-restricted-syntax\nexport const at = Date.now();';
    expect(await faultsOf(production, source)).toContainEqual(expect.stringContaining('Clock'));
  });
});
