import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import type { Clock } from '#libs/clock';

export type Handler = (request: IncomingMessage, response: ServerResponse) => void;

const END_OF_HEAD = Buffer.from('\r\n\r\n');
const MAX_IN_ADVANCE_BYTES = 16_384;

const readers = new WeakMap<Socket, OneRequestAtATime>();

/** @returns what reads a connection of a server that is guarded, once nothing but HTTP comes from it */
export function readerOf(socket: Socket): OneRequestAtATime | undefined {
  return readers.get(socket);
}

interface ReaderParts {
  readonly clock: Clock;
  readonly onRequest: () => void;
  /** The connection ends with its answer, because too much was sent in advance. */
  readonly onPipelined: () => void;
}

/**
 * Reads one connection of a server request by request: the next one is handled once the previous one has been answered,
 * and until then nothing more is read. HTTP allows requests in advance, and a read from the network brings 64 KiB of
 * them; answers go out in order, so working on several at once would only fill the memory. A client that sends more in
 * advance than any common one does loses its connection with the answer (RFC 9112 section 9.3.2 lets it try again).
 */
export class OneRequestAtATime {
  /** The connection ends with the answer under way, or with the next one. */
  isLast = false;
  readonly #socket: Socket;
  readonly #parse: (octets: Buffer) => void;
  readonly #parts: ReaderParts;
  #response: ServerResponse | undefined;
  /** The head of the next request was in one piece with the end of the body of this one. */
  #next: (() => void) | undefined;
  #holds = false;

  constructor(socket: Socket, parts: ReaderParts) {
    this.#socket = socket;
    this.#parts = parts;
    // The server's own listener feeds its parser; it now gets a request at a time instead of all that has arrived.
    const [parse] = socket.listeners('data') as ((octets: Buffer) => void)[];
    if (parse === undefined) throw new Error('the server does not read its connections by events');
    this.#parse = parse;
    socket.removeListener('data', parse);
    // Node.js takes the connection away from the parser as soon as anybody else listens.
    socket.on('data', (octets: Buffer) => this.#read(octets));
    readers.set(socket, this);
  }

  /** Whether somebody still works on an answer: one that is complete and only waits to be read is nobody's work. */
  get isAnswering(): boolean {
    return this.#response !== undefined && !this.#response.writableEnded;
  }

  /** The request that is handled, until its answer has been written. */
  get request(): IncomingMessage | undefined {
    return this.#response?.writableFinished === false ? this.#response.req : undefined;
  }

  handle(request: IncomingMessage, response: ServerResponse, handler: Handler): void {
    if (this.#response !== undefined) {
      // No piece brings two of them.
      if (this.#next === undefined) this.#next = () => this.handle(request, response, handler);
      else this.#socket.destroy();
      return;
    }
    this.#response = response;
    this.#parts.onRequest();
    if (this.isLast) response.shouldKeepAlive = false;
    response.on('close', this.#answered);
    handler(request, response);
  }

  /**
   * Ends the connection at what is no HTTP behind an answer, or behind a whole request: what has been written of its
   * answer goes out, and one that has not begun is awaited. @returns whether there is one
   */
  endBehindAnswer(): boolean {
    const response = this.#response;
    if (response === undefined || response.writableFinished) return false;
    if (!response.headersSent) {
      if (response.req.complete) response.shouldKeepAlive = false;
      return response.req.complete;
    }
    // Output of this turn of the event loop is corked until the end of the turn: since Node.js 26 in the response, of
    // which the socket knows nothing.
    while (response.writableCorked > 0) response.uncork();
    this.#socket.destroySoon();
    return true;
  }

  readonly #answered = (): void => {
    this.#response = undefined;
    if (this.isLast) return void this.#socket.destroySoon();
    // Not at once: the other connections get their turn between two requests of this one.
    if (this.#holds || this.#next !== undefined) this.#parts.clock.schedule(0, this.#goOn);
  };

  readonly #goOn = (): void => {
    const next = this.#next;
    this.#next = undefined;
    if (this.#socket.destroyed || this.#socket.writableEnded) return;
    next?.();
    if (!this.#holds) return;
    this.#holds = false;
    this.#socket.resume();
  };

  #read(octets: Buffer): void {
    const socket = this.#socket;
    for (let at = 0; at < octets.length;) {
      // An answer that ends the connection has been written, to this request or to input that is not HTTP: nothing
      // after it counts.
      if (socket.destroyed || socket.writableEnded) return;
      if (this.#response !== undefined && (this.#response.req.complete || this.#next !== undefined)) {
        return this.#hold(octets.subarray(at), this.#response);
      }
      // Paused by the server itself, it is resumed by the server.
      if (socket.isPaused()) return void socket.unshift(octets.subarray(at));
      const end = endOfPiece(octets, at);
      this.#parse(at === 0 && end === octets.length ? octets : octets.subarray(at, end));
      at = end;
    }
  }

  #hold(rest: Buffer, response: ServerResponse): void {
    this.#socket.pause();
    if (rest.length > MAX_IN_ADVANCE_BYTES) {
      this.isLast = true;
      response.shouldKeepAlive = false;
      this.#parts.onPipelined();
      return;
    }
    this.#holds = true;
    // A copy, since a piece would keep the whole read from the network in memory.
    this.#socket.unshift(Buffer.from(rest));
  }
}

/** Of a piece that has the end of one head at most, the parser makes one request. */
function endOfPiece(octets: Buffer, at: number): number {
  const end = octets.indexOf(END_OF_HEAD, at) + END_OF_HEAD.length;
  return end < END_OF_HEAD.length || octets.indexOf(END_OF_HEAD, end) === -1 ? octets.length : end;
}
