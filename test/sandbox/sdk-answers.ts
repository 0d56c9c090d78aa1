/*
 * What the client of `published-sdk.ts` requires of answers: every member that the published tables name, of the right
 * type, and no null anywhere. A name with a question mark may be absent.
 */

type Check = (value: unknown) => boolean;
export type Schema = Readonly<Record<string, Check>>;

const isText: Check = (value) => typeof value === 'string';
const isFullText: Check = (value) => typeof value === 'string' && value !== '';
const isNumber: Check = (value) => typeof value === 'number' && Number.isFinite(value);
const isTruth: Check = (value) => typeof value === 'boolean';
const isDate: Check = (value) => typeof value === 'string' && !Number.isNaN(Date.parse(value));
const isTexts: Check = (value) => Array.isArray(value) && value.length > 0 && value.every(isFullText);
const isObjectOfTexts: Check = (value) =>
  typeof value === 'object' && value !== null && Object.values(value).every(isText);
const isOneOf =
  (...words: readonly string[]): Check =>
  (value) =>
    words.some((word) => word === value);

const dates = { creationDateTime: isDate, modificationDateTime: isDate };
const originals = {
  'rrnOriginal?': isFullText,
  'originalOperationId?': isFullText,
  'originalCoinAmount?': isNumber,
  'originalEcomOperationId?': isFullText,
};
const signature = { notificationSignature: isTruth };
const order = {
  hppOrderId: isFullText,
  merchantRequestId: isFullText,
  hppPayType: isOneOf('PURCHASE', 'A2A'),
  paymentMethods: isTexts,
  orderStatus: isFullText,
  coinAmount: isNumber,
  merchantId: isFullText,
  redirectUrl: isFullText,
  statusUrl: isFullText,
  'nbuQrCode?': isFullText,
  'expiredOrderDate?': isDate,
  'createDate?': isDate,
};
const operation = {
  type: isOneOf('PURCHASE', 'REFUND'),
  coinAmount: isNumber,
  merchantId: isFullText,
  'operationId?': isFullText,
  ecomOperationId: isFullText,
  status: isFullText,
  transactionCurrency: isOneOf('980'),
  hppOrderId: isText,
  transactionResponseInfo: isObjectOfTexts,
  'creationDateTime?': isDate,
  'modificationDateTime?': isDate,
  'rrn?': isFullText,
  'productType?': isFullText,
  'transactionType?': isNumber,
  'notificationUrl?': isText,
  'notificationEncryption?': isTruth,
  ...originals,
};

export const answers = {
  session: {
    authToken: isFullText,
    refreshToken: isFullText,
    deviceId: isFullText,
    serverPublic: (value: unknown) =>
      isObjectOfTexts(value) && ['kty', 'crv', 'x', 'y'].every((name) => name in Object(value)),
    tokenExpirationDateTime: isFullText,
    tokenExpiration: isDate,
    sessionExpiration: isDate,
  },
  order: { ...order, ...signature },
  orderOperations: {
    ...signature,
    ...order,
    ecomOrderId: isFullText,
    'notificationUrl?': isText,
    operations: (value: unknown) =>
      Array.isArray(value) && value.every((each) => faultsOf(each, operation).length === 0),
  },
  refund: {
    ...signature,
    type: isOneOf('REFUND'),
    coinAmount: isNumber,
    merchantId: isFullText,
    operationId: isFullText,
    ecomOperationId: isFullText,
    status: isFullText,
    merchantRequestId: isFullText,
    transactionCurrency: isOneOf('980'),
    createDateTime: isDate,
    ...dates,
    transactionResponseInfo: isObjectOfTexts,
    productType: isFullText,
    hppOrderId: isText,
    'rrn?': isFullText,
    ...originals,
  },
  purchase: {
    ...signature,
    type: isOneOf('PURCHASE'),
    coinAmount: isNumber,
    merchantId: isFullText,
    operationId: isFullText,
    ecomOperationId: isFullText,
    status: isOneOf('SUCCESS', 'FAIL', 'PENDING', 'REQUIRED_3DS', 'DESIRED_THREEDS_MODE_ERROR'),
    merchantRequestId: isFullText,
    transactionCurrency: isOneOf('980'),
    'redirect3dsUrl?': isFullText,
    cardNumberMask: (value: unknown) => typeof value === 'string' && /^\d{4}\*+\d{4}$/.test(value),
    'approvalCode?': isFullText,
    'rrn?': isFullText,
    ...dates,
  },
} as const satisfies Readonly<Record<string, Schema>>;

/** Names of the members that are missing, of another type, or null; also of those that are in no table. */
export function faultsOf(value: unknown, schema: Schema): readonly string[] {
  if (typeof value !== 'object' || value === null) return ['(not an object)'];
  const members = value as Readonly<Record<string, unknown>>;
  const wrong = Object.entries(schema)
    .filter(([name, check]) => {
      const member = members[name.replace('?', '')];
      return member === undefined ? !name.endsWith('?') : !check(member);
    })
    .map(([name]) => name.replace('?', ''));
  const nulls = Object.entries(members).filter(([name, member]) => member === null && !wrong.includes(name));
  return [...wrong, ...nulls.map(([name]) => name)];
}
