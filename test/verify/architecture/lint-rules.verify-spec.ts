import { ESLint } from 'eslint';
import { root } from '../../architecture/rule-tables.js';

/** Existing files that stand for their kind: the rules apply by path. */
const production = 'libs/session/src/session.ts';
const clock = 'libs/clock/src/clock.ts';
const clientTime = 'libs/client/src/time.ts';
const client = 'libs/client/src/session-broker.ts';
const entry = 'apps/broker/src/main.ts';
const test = 'test/verify/architecture/lint-rules.verify-spec.ts';

const timeRule = 'Clock';
const refused: Readonly<Record<string, { source: string; message: string }>> = {
  'reading the wall clock': { source: 'export const at = Date.now();', message: timeRule },
  'reading the wall clock through an object': { source: 'export const at = new Date();', message: timeRule },
  'reading the wall clock as text': { source: 'export const at = Date();', message: timeRule },
  'reading the monotonic clock': { source: 'export const at = performance.now();', message: timeRule },
  'a timer without an owner': { source: 'setTimeout(() => f(), 5);', message: timeRule },
  'an interval without an owner': { source: 'setInterval(() => f(), 5);', message: timeRule },
  'a timer reached through the global object': { source: 'globalThis.setTimeout(() => f(), 5);', message: timeRule },
  'a deadline of its own': { source: 'export const end = AbortSignal.timeout(5);', message: timeRule },
  'reading the environment': { source: 'export const port = process.env["PORT"];', message: 'environment' },
  'reading the environment by index': { source: 'export const all = process["env"];', message: 'environment' },
  'taking the environment apart': { source: 'export const { env } = process;', message: 'environment' },
  'a default export': { source: 'export default function f() {}', message: 'Named exports' },
  'an enum': { source: 'export enum Colour { red }', message: 'union' },
  'an empty catch': { source: 'try { f(); } catch {}', message: 'swallow' },
  'an empty catch with a comment in it': { source: 'try { f(); } catch { /* fine */ }', message: 'swallow' },
  'an empty rejection handler': { source: 'f().catch(() => {});', message: 'swallow' },
  'an import whose target no rule can see': { source: 'export const m = import(name);', message: 'literal' },
  'a call out that is not bounded': { source: 'export const answer = fetch(url);', message: 'libs/gateway' },
  'code that is made at run time': { source: 'export const a = eval("1");', message: 'executed' },
  'a function that is made at run time': { source: 'export const f = new Function("1");', message: 'executed' },
  'a built-in module by the back door': {
    source: 'export const fs = process.getBuiltinModule("fs");',
    message: 'import statement',
  },
};

const accepted: Readonly<Record<string, { file: string; source: string }>> = {
  'a moment of its own making': { file: production, source: 'export const at = new Date(5);' },
  'a caught error that is handled': { file: production, source: 'try { f(); } catch (error) { g(error); }' },
  'a lazy import that the boundaries see': { file: production, source: 'export const m = import("./inner.js");' },
  'the clock in its home': { file: clock, source: 'export const at = Date.now();' },
  'the clock in the home that the published client has of its own': {
    file: clientTime,
    source: 'export const at = Date.now();',
  },
  'the environment in an entry file': { file: entry, source: 'export const all = process.env;' },
  'real time in a test': { file: test, source: 'export const at = Date.now();' },
};

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

  it.each(Object.entries(refused))('refuse %s', async (_what, { source, message }) => {
    expect(await faultsOf(production, source)).toEqual([expect.stringContaining(message)]);
  });

  it.each(Object.entries(accepted))('accept %s', async (_what, { file, source }) => {
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
    expect(await faultsOf(production, source)).toContainEqual(expect.stringContaining(timeRule));
  });
});
