import type { ServerResponse } from 'node:http';
import type { EgressInstruments } from '#libs/telemetry';
import type { EgressAudit } from '../audit/egress-audit.js';
import { CREATE_ROUTE, type RequestRecord } from './request-record.js';

export interface EndedRequest {
  readonly record: RequestRecord;
  readonly response: ServerResponse;
  readonly requestId: string;
  readonly seconds: number;
}

interface RequestEndsParts {
  readonly audit: EgressAudit;
  readonly instruments: EgressInstruments | undefined;
}

/** Reports a request at its end: it is counted, traced and, if it was a payment or an attempt to get in, audited. */
export class RequestEnds {
  readonly #parts: RequestEndsParts;

  constructor(parts: RequestEndsParts) {
    this.#parts = parts;
  }

  begun(): void {
    this.#parts.instruments?.inFlight(1);
  }

  ended({ record, response, requestId, seconds }: EndedRequest): void {
    const { client, merchant, route, outcome, span } = record;
    this.#count(record, seconds);
    span?.end(response.statusCode, {
      'session_egress.client': client,
      'session_egress.merchant': merchant,
      'session_egress.outcome': outcome,
    });
    const { audit } = this.#parts;
    if (record.generation !== undefined) {
      const status = outcome === 'client_gone' ? undefined : response.statusCode;
      audit.sent({ client, merchant, route, generation: record.generation, outcome, status, requestId });
    } else if (route === CREATE_ROUTE && outcome === 'answered') {
      audit.aliasSessionGiven({ client, merchant, requestId });
    } else if (record.isCallerRefused) {
      const action = route === CREATE_ROUTE ? 'alias_session.create' : 'payment.send';
      audit.refused({ action, route, reason: 'unauthenticated', requestId });
    }
  }

  #count(record: RequestRecord, seconds: number): void {
    const { instruments } = this.#parts;
    if (instruments === undefined) return;
    const { merchant, client, route, outcome } = record;
    instruments.inFlight(-1);
    instruments.request({ client, merchant, route, outcome, form: record.form ?? 'plain' }, seconds);
    if (record.isRepeated) instruments.repeat(merchant);
    if (record.hasCard) instruments.seemingCard(client, route);
    for (const code of record.deaths) instruments.deadSession(merchant, code);
    if (route === CREATE_ROUTE) instruments.aliasSession(client, outcome === 'answered' ? 'given' : 'refused');
  }
}
