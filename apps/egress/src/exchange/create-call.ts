import { BrokerError } from '#libs/errors';
import type { AliasSessions } from '../alias/alias-sessions.js';
import { readWhole } from './request-body.js';
import { CREATE_ROUTE, type RequestRecord } from './request-record.js';
import type { Arrival } from './arrival.js';

/** The create call of the interface description. It never reaches the bank from here. */
const CREATE_PATH = '/api-gateway/authorize_virtual_device';
const MAX_BODY_BYTES = 65_536;

export function isCreateCall(path: string): boolean {
  return path === CREATE_PATH;
}

interface CreateCall {
  readonly arrival: Arrival;
  readonly query: string;
  readonly alias: AliasSessions;
  readonly record: RequestRecord;
  readonly requestId: string;
}

/** Gives a client that authorizes for itself its own alias session. */
export async function answerCreateCall({ arrival, query, alias, record, requestId }: CreateCall): Promise<void> {
  const { request, response, wantBody } = arrival;
  record.route = CREATE_ROUTE;
  record.form = 'alias';
  if (request.method !== 'POST') throw new BrokerError('method_not_allowed');
  const body = await readWhole(request, { maxBytes: MAX_BODY_BYTES, wantBody });
  const answer = await alias.create({ body, query: new URLSearchParams(query) }, requestId);
  if (answer.client === undefined) {
    record.outcome = 'refused';
    record.isCallerRefused = true;
  } else {
    record.client = answer.client;
    record.merchant = answer.merchant ?? record.merchant;
  }
  const headers = { 'content-type': 'application/json', 'cache-control': 'no-store' };
  response.writeHead(answer.status, { ...headers, 'content-length': Buffer.byteLength(answer.body) }).end(answer.body);
}
