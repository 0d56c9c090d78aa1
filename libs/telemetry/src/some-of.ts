/** In one line of a log. */
const MAX_NAMED = 20;

/**
 * Names as one text for the log. In a list of texts, what stands behind a name such as `auth.tokens` would be taken for
 * its value, and withheld.
 */
export function someOf(names: readonly string[]): string {
  const more = names.length > MAX_NAMED ? [`and ${names.length - MAX_NAMED} more`] : [];
  return [...names.slice(0, MAX_NAMED), ...more].join(', ');
}
