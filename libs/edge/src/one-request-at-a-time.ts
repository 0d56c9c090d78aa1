import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import type { Clock } from '#libs/clock';
import { noteAnswer } from './answers-under-way.js';

export type Handler = (request: IncomingMessage, response: ServerResponse) => void;

const END_OF_HEAD = '\r\n\r\n';
const MAX_IN_ADVANCE_BYTES = 16_384;
/** Of a body whose length nobody said: what follows it in the same piece is parsed as well. */
const UNKNOWN_BODY_PIECE_BYTES = 512;

/**
 * Reads one connection of a server request by request: the next one is parsed once the previous one has been answered,
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
  /** Octets to come that certainly belong to the body of the request. */
  #bodyBytes = 0;
  /** Of the next request, part of the head has been parsed: where it ends cannot be seen in what comes next alone. */
  #isWithinHead = false;
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
    if (this.#response !== undefined) return this.#endAfterAnswer(this.#response);
    this.#request = request;
    this.#response = response;
    this.#bodyBytes = Number(request.headers['content-length'] ?? 0);
    noteAnswer(request, response);
    response.on('close', this.#answered);
    handler(request, response);
  }

  readonly #answered = (): void => {
    this.#response = undefined;
    if (this.#ends) return void this.#socket.destroySoon();
    if (!this.#holds) return;
    this.#holds = false;
    // Not at once: the other connections get their turn between two requests of this one.
    this.#clock.schedule(0, () => this.#socket.resume());
  };

  #endAfterAnswer(first: ServerResponse): void {
    if (this.#ends) return;
    this.#ends = true;
    first.shouldKeepAlive = false;
    this.#socket.pause();
    this.#onPipelined();
  }

  #read(octets: Buffer): void {
    const socket = this.#socket;
    for (let at = 0; at < octets.length;) {
      // An answer that ends the connection has been written, to this request or to input that is not HTTP: nothing
      // after it counts.
      if (socket.destroyed || socket.writableEnded || this.#ends) return;
      if (this.#response !== undefined && this.#request?.complete === true) {
        return this.#hold(octets.subarray(at), this.#response);
      }
      // Paused by the server itself, it is resumed by the server.
      if (socket.isPaused()) return void socket.unshift(octets.subarray(at));
      const end = Math.min(octets.length, at + this.#nextPiece(octets, at));
      this.#parsePiece(at === 0 && end === octets.length ? octets : octets.subarray(at, end));
      at = end;
    }
  }

  #parsePiece(piece: Buffer): void {
    const before = this.#request;
    const wasWithinHead = this.#isWithinHead;
    const isBody = this.#bodyBytes > 0;
    this.#parse(piece);
    const isNew = this.#request !== before;
    this.#isWithinHead = !isNew && !isBody && this.#request?.complete !== false;
    // Of a new request, the piece was the head, or the end of the head and perhaps some of the body.
    if (!isNew || wasWithinHead) this.#bodyBytes = Math.max(0, this.#bodyBytes - piece.length);
  }

  /** To the end of the head, or what is known to be body: never into the next request, where that can be known. */
  #nextPiece(octets: Buffer, at: number): number {
    if (this.#bodyBytes > 0) return this.#bodyBytes;
    if (this.#request?.complete === false) return UNKNOWN_BODY_PIECE_BYTES;
    const end = octets.indexOf(END_OF_HEAD, at);
    return end === -1 ? octets.length : end + END_OF_HEAD.length - at;
  }

  #hold(rest: Buffer, response: ServerResponse): void {
    if (rest.length > MAX_IN_ADVANCE_BYTES) return this.#endAfterAnswer(response);
    this.#holds = true;
    this.#socket.pause();
    // A copy, since a piece would keep the whole read from the network in memory.
    this.#socket.unshift(Buffer.from(rest));
  }
}
