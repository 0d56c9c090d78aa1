import type { IncomingMessage, ServerResponse } from 'node:http';

/** One request, as the server hands it over. */
export interface Arrival {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  /** Asks for the body, if the client waits to be asked. */
  readonly wantBody: () => void;
}
