/** More than a person reads in one line. */
const MOST = 20;

/**
 * Names as one text, the first `most` of them and how many more there are. For the log they are no list of texts: what
 * stands behind a name such as `auth.tokens` in one would be taken for its value, and withheld.
 */
export function someOf(names: readonly string[], most: number = MOST): string {
  const more = names.length > most ? [`and ${names.length - most} more`] : [];
  return [...names.slice(0, most), ...more].join(', ');
}
