import { BrokerError } from '#libs/errors';
import { readPublicKey, type PublicKey } from '../crypto/ec-key.js';
import { expiryFormats } from '../gateway/expiry-format.js';
import {
  InputFault,
  listOf,
  oneOf,
  optional,
  readInput,
  shape,
  text,
  trueOrFalse,
  wholeNumber,
  withDefault,
  type Reader,
} from '../input/read-input.js';

/** `full`: refreshToken, serverPublic and an expiry. `short`: serverPublicKey, and neither of the others. */
export const sessionForms = ['full', 'short'] as const;
export type SessionForm = (typeof sessionForms)[number];

/** What a terminal may be used for; `a2a` is the hosted page when it pays from account to account. */
const terminalUses = ['hosted', 'a2a', 'direct', 'refund'] as const;
export type TerminalUse = (typeof terminalUses)[number];

const MAX_LIFETIME_MS = 365 * 86_400_000;
const MAX_MERCHANTS = 10_000;

export const lifetimeMs = wholeNumber(1, MAX_LIFETIME_MS);

export const merchantId = text({
  longest: 64,
  pattern: /^[A-Za-z0-9][A-Za-z0-9._-]*$/,
  due: 'a name of 1 to 64 letters, digits, dots, underscores and dashes',
});

const UUID = /^[0-9a-fA-F]{8}(-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}$/;

/** Whether the text has the form of a service code; the bank assigns a UUID. */
export function isServiceCode(text: string): boolean {
  return UUID.test(text);
}

const publicKey: Reader<PublicKey> = (value, path) => {
  try {
    return readPublicKey(value);
  } catch (error) {
    if (!(error instanceof BrokerError)) throw error;
    throw new InputFault(`${path}: ${error.publicDetail ?? error.message}`);
  }
};

const members = shape({
  /** Names the merchant in control requests. Default: its service code. */
  id: optional(merchantId),
  serviceCode: text({ longest: 36, pattern: UUID, due: 'a UUID' }),
  /** The client's public key, as handed over at onboarding. */
  publicJwk: publicKey,
  form: withDefault(oneOf(sessionForms), 'full'),
  /** Default: `all` in the full form, `none` in the short one. */
  expiryFormat: optional(oneOf(expiryFormats)),
  utcOffsetMinutes: withDefault(wholeNumber(-720, 840), 0),
  /** Default: the sandbox's setting of the same name. */
  lifetimeMs: optional(lifetimeMs),
  /** Whether a new session ends the earlier ones, and after how long. */
  supersedes: withDefault(trueOrFalse, false),
  supersededGraceMs: withDefault(wholeNumber(0, MAX_LIFETIME_MS), 0),
  /**
   * The merchantId of its terminal, which payments have to name. Default: any that does not belong to another merchant.
   */
  merchantId: optional(text({ longest: 36, pattern: /^.+$/u, due: 'text of 1 to 36 characters' })),
  /** What its terminal is for. */
  payments: withDefault(listOf(oneOf(terminalUses), terminalUses.length), terminalUses),
  /** Whether session request data must come with the create call, may come, or is ignored. */
  requestData: withDefault(oneOf(['ignored', 'checked', 'required']), 'ignored'),
  /** The body field or header that carries it. */
  requestDataName: withDefault(
    text({
      longest: 64,
      pattern: /^[A-Za-z][A-Za-z0-9_-]*$/,
      due: 'a name of letters, digits, underscores and dashes',
    }),
    'jwe',
  ),
});

export type Merchant = Omit<ReturnType<typeof members>, 'id' | 'expiryFormat'> & {
  readonly id: string;
  readonly expiryFormat: (typeof expiryFormats)[number];
};

const merchant: Reader<Merchant> = (value, path) => {
  const read = members(value, path);
  return {
    ...read,
    id: read.id ?? read.serviceCode,
    expiryFormat: read.expiryFormat ?? (read.form === 'full' ? 'all' : 'none'),
  };
};

/** @throws BrokerError `invalid_request` that lists every fault, each with its member */
export function readMerchant(value: unknown): Merchant {
  return readInput(merchant, value);
}

/** The merchants of a file: a list of what `readMerchant` takes. @throws BrokerError `invalid_request` */
export function readMerchants(value: unknown): readonly Merchant[] {
  return readInput((list) => listOf(merchant, MAX_MERCHANTS)(list, 'merchants'), value);
}
