import type { ServerResponse } from 'node:http';
import { sessionDocument } from './session-document.js';

/** What a broker or a gateway answers to a guide's program. */
export type Answer = (response: ServerResponse) => unknown;

export const json =
  (status: number, document: object): Answer =>
  (response) =>
    response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(document));
export const dead = json(401, { msgCode: 'b_session_doesnt_exist' });
export const page =
  (status: number): Answer =>
  (response) =>
    response.writeHead(status, { 'content-type': 'text/html' }).end('<html>a page</html>');
export const session = (generation: number): Answer => json(200, { ...sessionDocument(), generation });
