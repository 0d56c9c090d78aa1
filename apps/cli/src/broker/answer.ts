/** The members of a JSON object of an answer. Whoever answers at the address may have written anything. */
export type AnswerMembers = Readonly<Record<string, unknown>>;

/** The members of a value that is an object; empty for any other value. */
export const membersOf = (value: unknown): AnswerMembers =>
  typeof value === 'object' && value !== null ? (value as AnswerMembers) : {};

/** The same for an answer as it came; empty if it is no JSON. */
export function parsedMembers(text: string): AnswerMembers {
  try {
    return membersOf(JSON.parse(text));
  } catch (error) {
    if (error instanceof SyntaxError) return {};
    throw error;
  }
}

const MAX_TEXT_LENGTH = 1_000;

/** A text on one line, cut where no sentence of a broker is as long; undefined for anything else. */
export function textIn(members: AnswerMembers, name: string): string | undefined {
  const value = members[name];
  return typeof value === 'string' ? value.slice(0, MAX_TEXT_LENGTH).replaceAll(/\s+/g, ' ') : undefined;
}

/** A moment of RFC 3339 in milliseconds since 1970; undefined for anything else. */
export function momentIn(members: AnswerMembers, name: string): number | undefined {
  const ms = Date.parse(textIn(members, name) ?? '');
  return Number.isNaN(ms) ? undefined : ms;
}
