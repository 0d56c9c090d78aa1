/** Where `${NAME}` is taken from: `process.env`, or a map in a test. */
export type Environment = Readonly<Record<string, string | undefined>>;

type Interpolation =
  | { readonly kind: 'text'; readonly text: string; readonly wholePlaceholder: boolean }
  | { readonly kind: 'unset'; readonly variables: readonly string[]; readonly problem: string }
  | { readonly kind: 'fault'; readonly problem: string };

const PLACEHOLDER = /\$\$\{|\$\{([A-Za-z_][A-Za-z0-9_]{0,127})(?::-([^}]*))?\}|\$\{/g;

/**
 * Replaces `${NAME}` and `${NAME:-default}` by the environment's values; the default also replaces a variable that is
 * empty. `$${` is a literal `${`. The value of a variable is never searched for placeholders again.
 */
export function interpolate(text: string, environment: Environment): Interpolation {
  let problem: string | undefined;
  const unset = new Set<string>();
  const result = text.replace(PLACEHOLDER, (match, name: string | undefined, fallback: string | undefined) => {
    if (match === '$${') return '${';
    if (name === undefined) {
      problem = 'has a "${" that starts neither ${NAME} nor ${NAME:-default}; write $${ for a literal one';
      return '';
    }
    // Own members only: ${constructor} must not find what every object inherits.
    const value = Object.hasOwn(environment, name) ? environment[name] : undefined;
    if (fallback !== undefined) return value === undefined || value === '' ? fallback : value;
    if (value === undefined) unset.add(name);
    return value ?? '';
  });
  if (problem !== undefined) return { kind: 'fault', problem };
  if (unset.size > 0) return { kind: 'unset', variables: [...unset], problem: unsetProblem([...unset]) };
  return { kind: 'text', text: result, wholePlaceholder: /^\$\{[^}]*\}$/.test(text) };
}

/** Does not suggest a default: most values from the environment are secrets, and the default would be in the file. */
function unsetProblem(names: readonly string[]): string {
  const [s, are, them] = names.length === 1 ? ['', 'is', 'it'] : ['s', 'are', 'them'];
  return `needs the environment variable${s} ${names.join(', ')}, which ${are} not set; set ${them}`;
}
