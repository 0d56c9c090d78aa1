import type { AuditLog, EgressInstruments } from '#libs/telemetry';
import type { RequestRecord } from './request-record.js';
import { CREATE_ROUTE } from './request-record.js';

export interface EndedRequest {
  readonly record: RequestRecord;
  readonly requestId: string;
  readonly seconds: number;
}

interface RequestEndsParts {
  readonly auditLog: AuditLog;
  readonly instruments: EgressInstruments | undefined;
}

/** What is told of a request at its end: counted, and recorded where it was a payment or an attempt to get in. */
export class RequestEnds {
  readonly #parts: RequestEndsParts;

  constructor(parts: RequestEndsParts) {
    this.#parts = parts;
  }

  begun(): void {
    this.#parts.instruments?.inFlight(1);
  }

  ended({ record, requestId, seconds }: EndedRequest): void {
    const { instruments } = this.#parts;
    const { merchant, client, outcome } = record;
    instruments?.inFlight(-1);
    instruments?.request(record, seconds);
    if (record.isRepeated) instruments?.repeat(merchant);
    for (const code of record.deaths) instruments?.deadSession(merchant, code);
    if (record.route === CREATE_ROUTE) instruments?.aliasSession(client, outcome === 'answered' ? 'given' : 'refused');
    this.#audit(record, requestId);
  }

  #audit({ client, merchant, route, outcome, generation }: RequestRecord, requestId: string): void {
    const action = route === CREATE_ROUTE ? 'alias_session.create' : 'payment.send';
    const isAllowed = route === CREATE_ROUTE ? outcome === 'answered' : generation !== undefined;
    const names = { caller: client, merchant: merchant === '' ? undefined : merchant, generation, requestId };
    this.#parts.auditLog.append({
      action,
      outcome: isAllowed ? 'allowed' : 'refused',
      ...names,
      reason: outcome,
    });
  }
}
