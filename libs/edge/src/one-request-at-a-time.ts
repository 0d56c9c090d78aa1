import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import type { Clock } from '#libs/clock';
import { noteAnswer } from './answers-under-way.js';

export type Handler = (request: IncomingMessage, response: ServerResponse) => void;

const END_OF_HEAD = '\r\n\r\n';
const MAX_IN_ADVANCE_BYTES = 16_384;

/**
 * Reads one connection of a server request by request: the next one is handled once the previous one has been answered,
 * and until then nothing more is read. HTTP allows requests in advance, and a read from the network brings 64 KiB of
 * them; answers go out in order, so working on several at once would only fill the memory. A client that sends more in
 * advance than any common one does loses its connection with the answer (RFC 9112 section 9.3.2 lets it try again).
 */
export class OneRequestAtATime {
  readonly #socket: Socket;
  readonly #parse: (octets: Buffer) => void;
  readonly #clock: Clock;
  readonly #onPipelined: () => void;
  #request: IncomingMessage | undefined;
  #response: ServerResponse | undefined;
  /** The head of the next request was in one piece with the end of the body of this one. */
  #next: (() => void) | undefined;
  #holds = false;
  #ends = false;

  /** @param onPipelined called if the connection ends with its answer because too much was sent in advance */
  constructor(socket: Socket, { clock, onPipelined }: { clock: Clock; onPipelined: () => void }) {
    this.#socket = socket;
    this.#clock = clock;
    this.#onPipelined = onPipelined;
    // The server's own listener feeds its parser; it now gets a request at a time instead of all that has arrived.
    const [parse] = socket.listeners('data') as ((octets: Buffer) => void)[];
    if (parse === undefined) throw new Error('the server does not read its connections by events');
    this.#parse = parse;
    socket.removeListener('data', parse);
    // Node.js takes the connection away from the parser as soon as anybody else listens.
    socket.on('data', (octets: Buffer) => this.#read(octets));
  }

  /** Whether somebody still works on an answer: one that is complete and only waits to be read is nobody's work. */
  get isAnswering(): boolean {
    return this.#response !== undefined && !this.#response.writableEnded;
  }

  handle(request: IncomingMessage, response: ServerResponse, handler: Handler): void {
    if (this.#response !== undefined) {
      // No piece brings two of them.
      if (this.#next === undefined) this.#next = () => this.handle(request, response, handler);
      else this.#socket.destroy();
      return;
    }
    this.#request = request;
    this.#response = response;
    noteAnswer(request, response);
    response.on('close', this.#answered);
    handler(request, response);
  }

  readonly #answered = (): void => {
    this.#response = undefined;
    if (this.#ends) return void this.#socket.destroySoon();
    // Not at once: the other connections get their turn between two requests of this one.
    if (this.#holds || this.#next !== undefined) this.#clock.schedule(0, this.#goOn);
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
      if (socket.destroyed || socket.writableEnded || this.#ends) return;
      if (this.#response !== undefined && (this.#request?.complete === true || this.#next !== undefined)) {
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
      this.#ends = true;
      response.shouldKeepAlive = false;
      this.#onPipelined();
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
