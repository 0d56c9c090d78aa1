/** As many as a person reads in one line. */
const MOST = 20;

/**
 * Names as one text: the first `most` of them, and how many more there are. Not a list, because the log takes the
 * element after a name such as `auth.tokens` for its value, and redacts it.
 */
export function someOf(names: readonly string[], most: number = MOST): string {
  const more = names.length > most ? [`and ${names.length - most} more`] : [];
  return [...names.slice(0, most), ...more].join(', ');
}
