import type { Clock } from '#libs/clock';
import { BrokerError } from '#libs/errors';
import type { PaymentOperationName } from '../calls/call-log.js';
import type { KeyPair } from '../crypto/ec-key.js';
import type { Trouble } from '../faults/fault.js';
import { headerOf, type Caller, type GatewayOperation, type GatewayRequest } from '../gateway/operation.js';
import { demandApiVersion } from '../gateway/operation.js';
import { GatewayRefusal } from '../gateway/refusal.js';
import { openSealed, sealFor } from '../gateway/sealing.js';
import { readInput, type Reader } from '../input/read-input.js';
import type { PaymentClaim } from '../ledger/ledger.js';
import type { MerchantBook } from '../merchants/merchant-book.js';
import type { Merchant } from '../merchants/merchant.js';
import type { PlayedSession } from '../sessions/session.js';
import type { SessionBook } from '../sessions/session-book.js';
import type { Settings } from '../settings.js';
import { jsonAnswer, type Answer } from '../wire/answer.js';
import type { Waiting } from '../wire/waiting.js';
import type { Attempts } from './attempts.js';
import { ownAddress } from './own-address.js';
import type { PaymentBook } from './payment-book.js';
import type { PaymentNotices } from './payment-notices.js';
import { demandSession } from './presented-session.js';

export interface PaymentParts {
  readonly clock: Clock;
  readonly settings: Settings;
  readonly merchants: MerchantBook;
  readonly sessions: SessionBook;
  readonly waiting: Waiting;
  readonly book: PaymentBook;
  readonly attempts: Attempts;
  readonly notices: PaymentNotices;
  /** The key that card numbers and card data are encrypted to. */
  readonly paymentKey: KeyPair;
}

export interface PaymentScene {
  readonly merchant: Merchant;
  /** The address that the caller uses for the sandbox, for the links in answers. */
  readonly ownUrl: string;
}

/** What defines one kind of payment request; how it is presented, sealed and timed is the same for all. */
export interface PaymentKind<T> {
  readonly name: PaymentOperationName;
  readonly path: string;
  /**
   * `json` in the clear both ways, or a JWE to the session's server key that is answered with one to the client's key.
   */
  readonly form: 'json' | 'sealed';
  readonly reader: Reader<T>;
  /** How the ledger identifies it; undefined if nothing is paid. `members` is whatever was sent. */
  readonly claim?: (
    members: Readonly<Record<string, unknown>>,
  ) => Pick<PaymentClaim, 'merchantRequestId' | 'coinAmount'>;
  /** @throws GatewayRefusal */
  carryOut(request: T, scene: PaymentScene): Readonly<Record<string, unknown>>;
}

type Reading = { readonly value: unknown } | { readonly refusal: GatewayRefusal };

/** An operation of the gateway that requires a session. */
export function playedPayment<T>(parts: PaymentParts, kind: PaymentKind<T>): GatewayOperation {
  const readings = new WeakMap<GatewayRequest, Reading>();
  /** A body is opened only once, although both the ledger and the operation need its content. */
  const readingOf = (request: GatewayRequest, session: PlayedSession): Reading => {
    const known = readings.get(request);
    if (known !== undefined) return known;
    const reading = read(() => (kind.form === 'json' ? request.body : parseSealed(request.body, session)));
    readings.set(request, reading);
    return reading;
  };
  const perform = (request: GatewayRequest, session: PlayedSession, trouble: Trouble | undefined): Answer => {
    const reading = readingOf(request, session);
    if ('refusal' in reading) throw reading.refusal;
    const merchant = merchantOf(parts, session);
    const members = kind.carryOut(validated(kind.reader, reading.value), { merchant, ownUrl: ownAddress(request) });
    const told = withoutMissing(members, trouble);
    return jsonAnswer(
      kind.form === 'json' ? told : { jwe: sealFor(merchant.publicJwk, JSON.stringify(told), trouble) },
    );
  };
  return {
    name: kind.name,
    path: kind.path,
    identify: (request) => callerOf(parts, request, (session) => claimOf(kind, session && readingOf(request, session))),
    async carryOut(request, { record, trouble }) {
      demandApiVersion(request);
      const session = demandSession(parts, request);
      record.session = session.id;
      const { paymentMs, paymentSession } = parts.settings;
      if (paymentSession === 'at_end') {
        await parts.waiting.delay(paymentMs);
        return perform(request, demandSession(parts, request), trouble);
      }
      const answer = perform(request, session, trouble);
      if (paymentMs > 0) await parts.waiting.delay(paymentMs);
      return answer;
    },
  };
}

/**
 * The merchant that the request concerns, by the device that it presents, whether or not its session is still valid.
 */
function callerOf(
  { sessions, merchants }: PaymentParts,
  request: GatewayRequest,
  claimBy: (session: PlayedSession | undefined) => PaymentClaim | undefined,
): Caller {
  const session = sessions.byDevice(headerOf(request, 'x-device_id') ?? '');
  const merchant = session === undefined ? undefined : merchants.byId(session.merchant);
  const claim = claimBy(session);
  const payment = claim === undefined ? {} : { payment: { ...claim, ...(merchant && { merchant: merchant.id }) } };
  return merchant === undefined ? payment : { merchant, serviceCode: merchant.serviceCode, ...payment };
}

function claimOf<T>(kind: PaymentKind<T>, reading: Reading | undefined): PaymentClaim | undefined {
  if (kind.claim === undefined) return undefined;
  const value = reading !== undefined && 'value' in reading ? reading.value : undefined;
  const isReadable = typeof value === 'object' && value !== null;
  return { operation: kind.name, ...(isReadable ? kind.claim(value as Record<string, unknown>) : {}) };
}

/** The id and amount that a request names, if they are valid. */
export function namedClaim(
  members: Readonly<Record<string, unknown>>,
): ReturnType<NonNullable<PaymentKind<never>['claim']>> {
  const { merchantRequestId, coinAmount } = members;
  const amount = Number(coinAmount);
  return {
    ...(typeof merchantRequestId === 'string' && merchantRequestId.length <= 36 ? { merchantRequestId } : {}),
    ...(Number.isSafeInteger(amount) && amount > 0 ? { coinAmount: amount } : {}),
  };
}

function read(body: () => unknown): Reading {
  try {
    return { value: body() };
  } catch (error) {
    if (error instanceof GatewayRefusal) return { refusal: error };
    throw error;
  }
}

function parseSealed(body: unknown, session: PlayedSession): unknown {
  const plaintext = openSealed(body, session.serverKey).toString('utf8');
  try {
    return JSON.parse(plaintext);
  } catch (error) {
    if (error instanceof SyntaxError) throw new GatewayRefusal('b_error_parse_json');
    throw error;
  }
}

function merchantOf({ merchants }: PaymentParts, session: PlayedSession): Merchant {
  const merchant = merchants.byId(session.merchant);
  if (merchant === undefined) throw new GatewayRefusal('b_merchant_not_found');
  return merchant;
}

function validated<T>(reader: Reader<T>, value: unknown): T {
  try {
    return readInput(reader, value);
  } catch (error) {
    if (!(error instanceof BrokerError)) throw error;
    throw new GatewayRefusal('VALIDATION_ERROR', { msgText: error.publicDetail ?? error.message });
  }
}

function withoutMissing(members: Readonly<Record<string, unknown>>, trouble: Trouble | undefined): object {
  if (trouble?.kind !== 'missing_fields') return members;
  return Object.fromEntries(Object.entries(members).filter(([name]) => !trouble.fields.includes(name)));
}
