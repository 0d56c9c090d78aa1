/** Where `${NAME}` is taken from: `process.env`, or a map in a test. */
export type Environment = Readonly<Record<string, string | undefined>>;

type Interpolation =
  | { readonly kind: 'text'; readonly text: string; readonly wholePlaceholder: boolean }
  | { readonly kind: 'unset'; readonly variable: string; readonly problem: string }
  | { readonly kind: 'fault'; readonly problem: string };

const PLACEHOLDER = /\$\$\{|\$\{([A-Za-z_][A-Za-z0-9_]{0,127})(?::-([^}]*))?\}|\$\{/g;

/**
 * Puts the environment's values in place of `${NAME}` and `${NAME:-default}`; the default also stands for a variable
 * that is empty. `$${` is a literal `${`. What a variable holds is never searched for placeholders again.
 */
export function interpolate(text: string, environment: Environment): Interpolation {
  let problem: string | undefined;
  let unset: string | undefined;
  const result = text.replace(PLACEHOLDER, (match, name: string | undefined, fallback: string | undefined) => {
    if (match === '$${') return '${';
    if (name === undefined) {
      problem = 'has a "${" that starts neither ${NAME} nor ${NAME:-default}; write $${ for a literal one';
      return '';
    }
    // Own members only: ${constructor} must not find what every object has.
    const value = Object.hasOwn(environment, name) ? environment[name] : undefined;
    if (fallback !== undefined) return value === undefined || value === '' ? fallback : value;
    if (value === undefined) unset ??= name;
    return value ?? '';
  });
  if (problem !== undefined) return { kind: 'fault', problem };
  if (unset !== undefined) {
    const remedy = `needs the environment variable ${unset}; set it, or write \${${unset}:-default}`;
    return { kind: 'unset', variable: unset, problem: remedy };
  }
  return { kind: 'text', text: result, wholePlaceholder: /^\$\{[^}]*\}$/.test(text) };
}
