import type { ServerResponse } from 'node:http';
import { plusMs, type Clock } from '#libs/clock';
import { describeError } from '#libs/errors';
import type { Logger } from '#libs/telemetry';
import type { Call, CallEnd, CallLog } from '../calls/call-log.js';
import type { FaultBook, MetFault, MetFaults } from '../faults/fault-book.js';
import type { Trouble } from '../faults/fault.js';
import type { Ledger, LedgerLine } from '../ledger/ledger.js';
import type { Settings } from '../settings.js';
import { headersOf, jsonAnswer, type Answer } from '../wire/answer.js';
import { sendHalf, sendSlowly, sendWhole, type Transmission } from '../wire/transmit.js';
import type { Waiting } from '../wire/waiting.js';
import { distort, substituteFor } from './distort.js';
import type { GatewayOperation, GatewayRequest } from './operation.js';
import { errorBody, GatewayRefusal } from './refusal.js';

export interface StageParts {
  readonly clock: Clock;
  readonly settings: Settings;
  readonly faults: FaultBook;
  readonly calls: CallLog;
  readonly ledger: Ledger;
  readonly waiting: Waiting;
  readonly logger: Logger;
}

export interface Exchange {
  readonly request: GatewayRequest;
  readonly response: ServerResponse;
  readonly requestId: string;
}

type Moment = 'arrival' | 'answer' | 'body';

/** One call on its way through the gateway. */
interface Act {
  readonly operation: GatewayOperation;
  readonly exchange: Exchange;
  readonly call: Call;
  /** Set if a payment is requested. */
  readonly line: LedgerLine | undefined;
  readonly time: MetFault | undefined;
  readonly trouble: Trouble | undefined;
  readonly skewMs: number;
}

interface Played {
  readonly answer: Answer;
  readonly end: CallEnd;
  /** Whether the operation was carried out. */
  readonly isAccepted: boolean;
}

/**
 * Plays the calls, with the faults that they meet:
 *
 *   arrival: latency, hold, hang, drop
 *   the operation, or the answer that replaces it
 *   answer: latency, hold, hang, drop
 *   body: hang, drop, slow
 *
 * A caller that leaves meanwhile does not stop the operation, as with any server behind a queue: its session is
 * created, and supersedes, although no one learns of it.
 */
export class Stage {
  readonly #parts: StageParts;

  constructor(parts: StageParts) {
    this.#parts = parts;
  }

  async play(operation: GatewayOperation, exchange: Exchange): Promise<void> {
    try {
      await this.#perform(this.#begin(operation, exchange));
    } catch (error) {
      this.#parts.logger.error(
        { operation: operation.name, error: describeError(error) },
        'a call could not be played',
      );
      if (exchange.response.headersSent) exchange.response.destroy();
      else this.refuse(exchange, new GatewayRefusal('b_unknown_error'));
    }
  }

  /** For a request that could not be read, so that no operation saw it. */
  refuseUnread(operation: GatewayOperation, exchange: Exchange, refusal: GatewayRefusal): void {
    const call = this.#parts.calls.begin({ operation: operation.name, requestId: exchange.requestId });
    call.end(refused(refusal, exchange.requestId).end);
    this.refuse(exchange, refusal);
  }

  /** Answers with the gateway's error body, outside of any call. */
  refuse(exchange: Exchange, refusal: GatewayRefusal): void {
    const { answer } = refused(refusal, exchange.requestId);
    sendWhole(this.#transmission(exchange, answer, this.#parts.settings.skewMs));
  }

  /**
   * From here to the first wait, everything happens in one turn: a test that sees the call in the log can release it.
   */
  #begin(operation: GatewayOperation, exchange: Exchange): Act {
    const { merchant, serviceCode, payment } = operation.identify(exchange.request);
    const call = this.#parts.calls.begin({
      operation: operation.name,
      requestId: exchange.requestId,
      ...(serviceCode === undefined ? {} : { serviceCode }),
      ...(merchant === undefined ? {} : { merchant: merchant.id }),
    });
    exchange.response.once('close', () => call.end({ outcome: 'disconnected' }));
    const met = this.#parts.faults.meet(operation.name, merchant?.id);
    call.record.faults = kindsOf(met);
    const skew = met.clock?.fault;
    const skewMs = this.#parts.settings.skewMs + (skew?.kind === 'clock_skew' ? skew.skewMs : 0);
    const line = payment === undefined ? undefined : this.#parts.ledger.arrive(payment);
    return { operation, exchange, call, line, time: met.time, trouble: met.answer?.fault, skewMs };
  }

  async #perform(act: Act): Promise<void> {
    await this.#spendTime(act.time, 'arrival');
    if (isLost(act, 'arrival')) return;
    const played = await this.#carryOut(act);
    if (played.isAccepted) act.line?.accept();
    else act.line?.refuse(played.end.msgCode ?? act.trouble?.kind ?? 'unknown');
    await this.#spendTime(act.time, 'answer');
    if (isLost(act, 'answer') || act.exchange.response.destroyed) return;
    await this.#send(act, played);
  }

  async #carryOut({ operation, exchange, call, trouble, skewMs }: Act): Promise<Played> {
    const substitute = trouble === undefined ? undefined : substituteFor(trouble, exchange.requestId);
    if (substitute !== undefined) return { answer: substitute, end: faulty(substitute, trouble), isAccepted: false };
    try {
      const answer = await operation.carryOut(exchange.request, { record: call.record, trouble, skewMs });
      const end: CallEnd = { outcome: 'success', httpStatus: answer.status };
      if (trouble === undefined) return { answer, end, isAccepted: true };
      return { answer: distort(answer, trouble), end: faulty(answer, trouble), isAccepted: true };
    } catch (error) {
      if (error instanceof GatewayRefusal) return refused(error, exchange.requestId);
      throw error;
    }
  }

  async #send(act: Act, { answer, end, isAccepted }: Played): Promise<void> {
    const { exchange, call, line, trouble, skewMs } = act;
    const transmission = this.#transmission(exchange, answer, skewMs);
    const announce = (): void => {
      if (isAccepted) line?.answer();
      call.end(end);
    };
    switch (trouble?.kind) {
      case 'hang':
        // In the body: what is lost before has ended the call. The same goes for `drop`.
        return sendHalf(transmission);
      case 'drop':
        await sendHalf(transmission);
        call.end(end);
        exchange.response.destroy();
        return;
      case 'slow':
        if (await sendSlowly(transmission, trouble, this.#parts.waiting)) announce();
        return;
      default:
        // Before the answer leaves, so that its recipient finds the call finished in the log.
        announce();
        sendWhole(transmission, trouble?.kind === 'interim' ? trouble.statuses : []);
    }
  }

  #transmission({ response, requestId }: Exchange, answer: Answer, skewMs: number): Transmission {
    const date = new Date(plusMs(this.#parts.clock.now(), skewMs)).toUTCString();
    return { response, answer, headers: headersOf(answer, { date, 'x-request_id': requestId }) };
  }

  async #spendTime(met: MetFault | undefined, moment: Moment): Promise<void> {
    if (met?.fault.kind === 'latency' && met.fault.at === moment) await this.#parts.waiting.delay(met.fault.delayMs);
    if (met?.fault.kind === 'hold' && met.fault.at === moment) await met.gate.pass();
  }
}

/** True if there is nothing more to do: a dropped call is over, and a hanging one lasts until its caller leaves. */
function isLost({ trouble, exchange, call, line }: Act, moment: Moment): boolean {
  if ((trouble?.kind !== 'hang' && trouble?.kind !== 'drop') || trouble.at !== moment) return false;
  if (moment === 'arrival') line?.refuse(trouble.kind);
  if (trouble.kind === 'drop') {
    call.end({ outcome: 'fault' });
    exchange.response.socket?.resetAndDestroy();
  }
  return true;
}

function kindsOf(met: MetFaults): readonly string[] {
  return Object.values(met).map(({ fault }) => fault.kind);
}

function faulty({ status }: Answer, trouble: Trouble | undefined): CallEnd {
  const msgCode = trouble?.kind === 'error' ? { msgCode: trouble.msgCode } : {};
  return { outcome: 'fault', httpStatus: status, ...msgCode };
}

function refused({ refusal }: GatewayRefusal, requestId: string): Played {
  return {
    answer: jsonAnswer(errorBody(requestId, refusal), refusal.status),
    end: { outcome: 'refused', httpStatus: refusal.status, msgCode: refusal.msgCode },
    isAccepted: false,
  };
}
