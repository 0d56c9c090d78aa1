import { fail } from 'node:assert/strict';

/** Something that a suite needs and a clean clone does not have, beyond what tools/test-tools.json lists. */
export interface Requirement {
  readonly name: string;
  /** What is missing and how to get it, or undefined if it is there. */
  readonly missing: () => string | undefined;
}

/** A name in tools/test-tools.json, or a requirement of the suite itself. */
type Need = string | Requirement;

interface FoundTool {
  readonly paths?: Readonly<Record<string, string>>;
  readonly missing?: string;
}

/** What jest.config.mjs has looked for, once for all suites. */
declare const testTools: Readonly<Record<string, FoundTool>>;

/** Jest gives every test file its own copy of this module, so these are the names of one file. */
const named = new Set<string>();

/**
 * A `describe` that says what it needs. If that is missing, its tests are skipped, under a title by which the report at
 * the end of a run counts them; in CI they fail, since a skip would hide that nothing was proven.
 */
export function describeWith(needs: Need | readonly Need[], title: string, body: () => void): void {
  const all = typeof needs === 'string' || 'missing' in needs ? [needs] : needs;
  const missing = all.flatMap((need) => {
    const { name, why } = stateOf(need);
    named.add(name);
    return why === undefined ? [] : [{ name, why }];
  });
  if (missing.length === 0) {
    describe(title, body);
  } else if (process.env['CI'] === 'true') {
    it(`${title}: has what it needs`, () => {
      throw new Error(`In CI nothing may be skipped, but ${missing.map(({ why }) => why).join('; ')}.`);
    });
  } else {
    describe.skip(`${title} [needs ${missing.map(({ name }) => name).join(', ')}]`, () => listed(body));
  }
}

/**
 * Where a command of a tool is, for a suite that declared that it needs the tool; outside tests, the command as it is.
 * @throws Error if the suite did not declare it: on a machine without the tool, it would fail instead of being skipped
 */
export function toolPath(tool: string, command = tool): string {
  if (!('describe' in globalThis)) return command;
  if (!named.has(tool)) throw new Error(`a suite that starts ${command} has to say so: describeWith('${tool}', …)`);
  return testTools[tool]?.paths?.[command] ?? fail(`${command} is not here, and its suite is not skipped`);
}

function stateOf(need: Need): { readonly name: string; readonly why: string | undefined } {
  if (typeof need !== 'string') return { name: need.name, why: need.missing() };
  const tool = testTools[need] ?? fail(`"${need}" is not in tools/test-tools.json`);
  return { name: need, why: tool.missing };
}

/** Some suites generate their list of tests from what is missing. Those count as one. */
function listed(body: () => void): void {
  try {
    body();
  } catch {
    it('is a list of tests that is not known here', () => undefined);
  }
}
