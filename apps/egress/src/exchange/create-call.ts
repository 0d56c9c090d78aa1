import type { Places } from '#libs/edge';
import type { IncomingMessage } from 'node:http';
import type { Clock } from '#libs/clock';
import { BrokerError } from '#libs/errors';
import type { AliasSessions } from '../alias/alias-sessions.js';
import { readWhole } from './request-body.js';
import { CREATE_ROUTE, type RequestRecord } from './request-record.js';
import type { Arrival } from './arrival.js';

/** The create call of the interface description. It never reaches the bank from here. */
const CREATE_PATH = '/api-gateway/authorize_virtual_device';
/** Enough for session request data beside the serviceCode: whoever calls is unknown. */
const MAX_BODY_BYTES = 1_024;
const BODY_WITHIN_MS = 2_000;
const ANYBODY = 'anybody';

export function isCreateCall(path: string): boolean {
  return path === CREATE_PATH;
}

interface CreateCall {
  readonly arrival: Arrival;
  readonly query: string;
  readonly alias: AliasSessions;
  readonly record: RequestRecord;
  readonly requestId: string;
  readonly clock: Clock;
  readonly places: Places;
}

/** @throws BrokerError `method_not_allowed`: the interface has no other method */
export function demandPost({ method }: IncomingMessage): void {
  if (method !== 'POST') throw new BrokerError('method_not_allowed');
}

/** Gives a client that authorizes for itself its own alias session. */
export async function answerCreateCall(call: CreateCall): Promise<void> {
  const { arrival, query, alias, record, requestId, clock, places } = call;
  const { request, response, wantBody } = arrival;
  record.route = CREATE_ROUTE;
  record.form = 'alias';
  demandPost(request);
  const body = await readWhole(request, { maxBytes: MAX_BODY_BYTES, withinMs: BODY_WITHIN_MS, clock, wantBody });
  const leave = places.take(ANYBODY);
  const answer = await alias.create({ body, query: new URLSearchParams(query) }, requestId).finally(leave);
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
