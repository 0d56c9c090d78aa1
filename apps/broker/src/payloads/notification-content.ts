import { BrokerError } from '#libs/errors';

/** `hosted_page`: an order with the operation that it reports. `direct_payment`: an operation by itself. */
export const NOTIFICATION_KINDS = ['hosted_page', 'direct_payment'] as const;
export type NotificationKind = (typeof NOTIFICATION_KINDS)[number];

type Members = Readonly<Record<string, unknown>>;

export interface NotificationContent {
  readonly kind: NotificationKind;
  readonly content: Members;
}

interface Rule {
  readonly is: (value: unknown) => boolean;
  readonly fault: string;
}

const isText = (value: unknown): value is string => typeof value === 'string';
const text: Rule = { is: (value) => isText(value) && value.trim() !== '', fault: 'must be a text that is not empty' };
/** It is passed on as JSON again, which writes null for 1e400, and another number for a whole one beyond these. */
const amount: Rule = {
  is: (value) => typeof value === 'number' && Math.abs(value) <= Number.MAX_SAFE_INTEGER,
  fault: 'must be a number, and of at most 2^53 - 1',
};
const texts: Rule = { is: (value) => Array.isArray(value) && value.every(isText), fault: 'must be a list of texts' };
const members: Rule = { is: isMembers, fault: 'must be an object' };

/** May be missing, and published clients have seen null. */
function ifGiven({ is, fault }: Rule): Rule {
  return { is: (value) => value === undefined || value === null || is(value), fault: `${fault}, where it is given` };
}
const anyText: Rule = { is: isText, fault: 'must be a text' };
const flag: Rule = { is: (value) => typeof value === 'boolean' || isText(value), fault: 'must be true or false' };

type Shape = Readonly<Record<string, Rule>>;

/**
 * Without the required members, nobody can tell what was paid; of the rest, only the type is checked, and members not
 * named here are ignored.
 */
const OPERATION: Shape = {
  type: text,
  ecomOperationId: text,
  status: text,
  coinAmount: amount,
  merchantId: text,
  transactionCurrency: ifGiven(anyText),
  operationId: ifGiven(text),
  // Empty for a direct payment.
  hppOrderId: ifGiven(anyText),
  transactionResponseInfo: ifGiven(members),
  rrn: ifGiven(anyText),
  notificationUrl: ifGiven(anyText),
  notificationEncryption: ifGiven(flag),
};
const ORDER: Shape = {
  hppOrderId: text,
  ecomOrderId: text,
  merchantRequestId: text,
  merchantId: text,
  orderStatus: text,
  coinAmount: amount,
  operation: members,
  paymentMethods: ifGiven(texts),
  statusUrl: ifGiven(anyText),
  redirectUrl: ifGiven(anyText),
  notificationUrl: ifGiven(anyText),
  notificationEncryption: ifGiven(flag),
};

/**
 * Checks the content of a notification against the two forms that the gateway sends.
 * @throws BrokerError `notification_invalid`, which names the faulty member and never its value
 */
export function notificationContentOf(json: string): NotificationContent {
  const content = parsed(json);
  if (!isMembers(content)) throw invalid('it is no JSON object');
  if (!('operation' in content) && !('ecomOperationId' in content)) {
    throw invalid('it has neither an operation nor the members of one');
  }
  const isOrder = 'operation' in content;
  if (isOrder) demand(content, { shape: ORDER, path: '' });
  const operation = (isOrder ? content['operation'] : content) as Members;
  demand(operation, { shape: OPERATION, path: isOrder ? 'operation.' : '' });
  return { kind: isOrder ? 'hosted_page' : 'direct_payment', content };
}

function demand(value: Members, { shape, path }: { readonly shape: Shape; readonly path: string }): void {
  const broken = Object.entries(shape).find(([name, { is }]) => !is(value[name]));
  if (broken !== undefined) throw invalid(`${path}${broken[0]} ${broken[1].fault}`);
}

function parsed(json: string): unknown {
  try {
    return JSON.parse(json);
  } catch (error) {
    // The parser's message quotes what it read, so it is dropped here.
    if (error instanceof SyntaxError) return undefined;
    throw error;
  }
}

function isMembers(value: unknown): value is Members {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function invalid(publicDetail: string): BrokerError {
  return new BrokerError('notification_invalid', { publicDetail });
}

const ENCRYPTED = 'x-encrypted_body';
/** Five base64url parts: no JSON can look like that. */
const COMPACT_JWE = /^[\w-]+(\.[\w-]*){4}$/;
const MAX_HEADERS = 128;

/**
 * The JWE in the body, or undefined for a body in the clear. The header says which; a body that is a compact JWE is
 * treated as one, whatever has happened to the headers on the way.
 * @throws BrokerError `invalid_request` for invalid headers
 */
export function sealedBodyOf({
  headers,
  body,
}: {
  readonly headers: Members;
  readonly body: string;
}): string | undefined {
  const given = Object.entries(headers);
  if (given.length > MAX_HEADERS || !given.every(([, value]) => isHeaderValue(value))) {
    throw new BrokerError('invalid_request', {
      publicDetail: `headers: must be at most ${MAX_HEADERS} names, each with a text or a list of texts`,
    });
  }
  const trimmed = body.trim();
  const says = given.filter(([name]) => name.toLowerCase() === ENCRYPTED).flatMap(([, value]) => value);
  const isSaid = says.some((value) => String(value).trim().toLowerCase() === 'true');
  return isSaid || COMPACT_JWE.test(trimmed) ? trimmed : undefined;
}

function isHeaderValue(value: unknown): boolean {
  return typeof value === 'string' || (Array.isArray(value) && value.every((one) => typeof one === 'string'));
}
