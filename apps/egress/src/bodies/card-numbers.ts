import type { EgressRoute } from '#libs/configuration';
import { candidatesInNumber, candidatesInText } from './card-candidates.js';
import { isCardNumber } from './card-schemes.js';
import { withAsciiDigits } from './decimal-digits.js';
import { type JsonLeaf, type JsonPath, leavesOf } from './json-leaves.js';

/** A path is for a person: a longer one helps nobody, and could be as long as the body. */
const MAX_PATH_PARTS = 16;
const MAX_NAME_LENGTH = 64;
/** As many digits as a name may have without being part of a card number. */
const MAX_NAME_DIGITS = 4;
const ORDINARY_NAME = /^[\p{L}_$][\p{L}\p{Nd}_$-]*$/u;
/** In place of a name that is not repeated. */
const UNNAMED = '*';
const ROOT = '$';
/** Any algorithm will do: which one the bank's payment key needs is the bank's concern. */
const COMPACT_JWE = /^[\w-]+(?:\.[\w-]*){4}$/;

type NamedMembers = Pick<EgressRoute, 'encrypted' | 'notCards'>;

/**
 * Looks for a card number in the clear: 13 to 19 digits as a card scheme issues them, with the right check digit, in
 * any text, number or name of a JSON document, at any depth. It is found inside a longer text, with single spaces or
 * hyphens between its groups, and in the digits of any script. These are not card numbers: twenty or more digits in a
 * row, UUIDs and long hexadecimal identifiers, a compact JWE. A number spread over several members is not found.
 *
 * In the members listed in `encrypted`, anything that is not a compact JWE is refused, such as an expiry or a CVV: that
 * is where a shop forgets to encrypt. Numbers with another meaning are occasionally mistaken for a card's; a member
 * that may hold such numbers goes into `notCards` and is not checked.
 * @param members both lists apply to a text or a number, or a list of these; an object in such a member is checked like
 *   any other
 * @returns where it is, e.g. `customerData.comments[0]`, fit for an answer and a log: digits are not repeated
 * @throws BrokerError `invalid_request` when the text is not JSON
 */
export function findClearCardNumber(json: string, members: NamedMembers): string | undefined {
  const encrypted: ReadonlySet<unknown> = new Set(members.encrypted);
  const notCards: ReadonlySet<unknown> = new Set(members.notCards);
  for (const leaf of leavesOf(json)) {
    if (notCards.has(leaf.member)) continue;
    if (encrypted.has(leaf.member) ? !isEncrypted(leaf) : holdsCardNumber(leaf))
      return written(leaf.kind === 'name' ? [...leaf.path(), UNNAMED] : leaf.path());
  }
  return undefined;
}

const isEncrypted = ({ kind, content }: JsonLeaf): boolean =>
  kind === 'text' && (content === '' || COMPACT_JWE.test(content));

function holdsCardNumber({ kind, content }: JsonLeaf): boolean {
  const candidates = kind === 'number' ? candidatesInNumber(content) : candidatesInText(content);
  for (const candidate of candidates) if (isCardNumber(candidate)) return true;
  return false;
}

function written(path: JsonPath): string {
  if (path.length === 0) return ROOT;
  const shown = path
    .slice(0, MAX_PATH_PARTS)
    .map((part) => (typeof part === 'number' ? `[${part}]` : `.${nameOf(part)}`));
  const rest = path.length > MAX_PATH_PARTS ? '…' : '';
  return `${shown.join('')}${rest}`.replace(/^\./, '');
}

function nameOf(name: string): string {
  const digits = withAsciiDigits(name).match(/\d/g) ?? [];
  const isFit = name.length <= MAX_NAME_LENGTH && digits.length <= MAX_NAME_DIGITS && ORDINARY_NAME.test(name);
  return isFit ? name : UNNAMED;
}
