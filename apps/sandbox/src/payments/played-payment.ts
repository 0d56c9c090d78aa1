import type { Clock } from '#libs/clock';
import { BrokerError } from '#libs/errors';
import type { PaymentOperationName } from '../calls/call-log.js';
import type { KeyPair } from '../crypto/ec-key.js';
import type { Trouble } from '../faults/fault.js';
import { demandApiVersion, headerOf, type GatewayOperation, type GatewayRequest } from '../gateway/operation.js';
import { callerOf, demandSession, merchantOf, namedSession, type SessionParts } from '../gateway/presented-session.js';
import { GatewayRefusal } from '../gateway/refusal.js';
import { openSealed, sealFor } from '../gateway/sealing.js';
import { readInput, type Reader } from '../input/read-input.js';
import type { PaymentClaim } from '../ledger/ledger.js';
import type { Merchant, TerminalUse } from '../merchants/merchant.js';
import type { PlayedSession } from '../sessions/session-book.js';
import type { Settings } from '../settings.js';
import { jsonAnswer, type Answer } from '../wire/answer.js';
import type { Waiting } from '../wire/waiting.js';
import type { PaymentBook } from './payment-book.js';
import type { PaymentNotices } from './payment-notices.js';

export interface PaymentParts extends SessionParts {
  readonly clock: Clock;
  readonly settings: Settings;
  readonly waiting: Waiting;
  readonly book: PaymentBook;
  readonly notices: PaymentNotices;
  /** The key that card numbers and card data are encrypted to. */
  readonly paymentKey: KeyPair;
}

export interface PaymentScene {
  readonly merchant: Merchant;
  /** The address that the caller uses for the sandbox, for the links in answers. */
  readonly ownUrl: string;
}

type Members = Readonly<Record<string, unknown>>;

/** What a request begins that is new: with which terminal, and under which id. */
interface Opening {
  readonly use: TerminalUse;
  readonly merchantId: string;
  readonly merchantRequestId: string;
}

/** What defines one kind of payment request; how it is presented, sealed and timed is the same for all. */
export interface PaymentKind<T> {
  readonly name: PaymentOperationName;
  /** Below `/ecom/execute_request/`. */
  readonly path: string;
  /**
   * `json` in the clear both ways, or a JWE to the session's server key that is answered with one to the client's key.
   */
  readonly form: 'json' | 'sealed';
  readonly reader: Reader<T>;
  /** How the ledger identifies it; undefined if nothing is paid. `members` is whatever was sent. */
  readonly claim?: (members: Members) => Pick<PaymentClaim, 'merchantRequestId' | 'coinAmount'>;
  readonly opens?: (request: T) => Opening;
  /** The id by which attempts are counted; undefined if any number may be made. */
  readonly subject?: (request: T) => string;
  /** @throws GatewayRefusal */
  carryOut(request: T, scene: PaymentScene): Members;
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
    const valid = validated(kind.reader, reading.value);
    admit(parts, kind, { request: valid, merchant });
    const members = kind.carryOut(valid, { merchant, ownUrl: ownAddress(request) });
    // Published for every answer, and demanded by a published client.
    const told = withoutMissing({ ...members, notificationSignature: false }, trouble);
    const sealed = (): object => ({ jwe: sealFor(merchant.publicJwk, JSON.stringify(told), trouble) });
    return jsonAnswer(kind.form === 'json' ? told : sealed());
  };
  return {
    name: kind.name,
    path: `/ecom/execute_request/${kind.path}`,
    identify(request) {
      const session = namedSession(parts, request);
      const caller = callerOf(parts, session);
      const claim = claimOf(kind, session && readingOf(request, session));
      if (claim === undefined) return caller;
      return { ...caller, payment: { ...claim, ...(caller.merchant && { merchant: caller.merchant.id }) } };
    },
    async carryOut(request, { record, trouble }) {
      demandApiVersion(request);
      const session = demandSession(parts, request);
      record.session = session.id;
      const answer = perform(request, session, trouble);
      const { paymentMs } = parts.settings;
      if (paymentMs > 0) await parts.waiting.delay(paymentMs);
      return answer;
    },
  };
}

interface Admission<T> {
  readonly request: T;
  readonly merchant: Merchant;
}

/** @throws GatewayRefusal for the wrong terminal, one attempt too many, or an id that was used before */
function admit<T>(parts: PaymentParts, kind: PaymentKind<T>, { request, merchant }: Admission<T>): void {
  const { book, settings } = parts;
  const opening = kind.opens?.(request);
  if (opening !== undefined) demandTerminal(parts, merchant, opening);
  if (kind.subject !== undefined) book.attempt(JSON.stringify([kind.name, merchant.id, kind.subject(request)]));
  if (opening === undefined || settings.duplicates === 'accepted') return;
  const { merchantRequestId } = opening;
  if (book.isUsed({ merchant: merchant.id, merchantRequestId })) throw new GatewayRefusal('b_duplicate_field_value');
}

/** A merchant has one terminal for a type of payment, with its own merchantId. */
function demandTerminal({ merchants }: PaymentParts, merchant: Merchant, { merchantId, use }: Opening): void {
  if (merchant.merchantId !== merchantId) {
    const isOthers = merchants.all().some((other) => other.id !== merchant.id && other.merchantId === merchantId);
    if (isOthers) throw new GatewayRefusal('b_user_merchant_request_mismatch');
    if (merchant.merchantId !== undefined) throw new GatewayRefusal('b_merchant_not_found');
  }
  if (!merchant.payments.includes(use)) throw new GatewayRefusal('b_terminal_not_found');
}

function claimOf<T>(kind: PaymentKind<T>, reading: Reading | undefined): PaymentClaim | undefined {
  if (kind.claim === undefined) return undefined;
  const value = reading !== undefined && 'value' in reading ? reading.value : undefined;
  const isReadable = typeof value === 'object' && value !== null;
  return { operation: kind.name, ...(isReadable ? kind.claim(value as Members) : {}) };
}

/** The id and amount that a request names, if they are valid. */
export function namedClaim({ merchantRequestId, coinAmount }: Members): Partial<PaymentClaim> {
  const amount = Number(coinAmount);
  return {
    ...(typeof merchantRequestId === 'string' && merchantRequestId.length <= 36 ? { merchantRequestId } : {}),
    ...(Number.isSafeInteger(amount) && amount > 0 ? { coinAmount: amount } : {}),
  };
}

const HOST = /^([\w.-]{1,253}|\[[\da-f:]{2,39}\])(:\d{1,5})?$/i;

/** The address by which the caller reached the sandbox, so that links lead back to it through any proxy. */
function ownAddress(request: GatewayRequest): string {
  const host = headerOf(request, 'host') ?? '';
  return `http://${HOST.test(host) ? host : 'localhost'}`;
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

function validated<T>(reader: Reader<T>, value: unknown): T {
  try {
    return readInput(reader, value);
  } catch (error) {
    if (!(error instanceof BrokerError)) throw error;
    throw new GatewayRefusal('VALIDATION_ERROR', { msgText: error.publicDetail ?? error.message });
  }
}

function withoutMissing(members: Members, trouble: Trouble | undefined): object {
  if (trouble?.kind !== 'missing_fields') return members;
  return Object.fromEntries(Object.entries(members).filter(([name]) => !trouble.fields.includes(name)));
}
