import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import type { Clock } from '#libs/clock';
import { noteAnswer } from './answers-under-way.js';
import type { EndedConnections } from './ended-connections.js';
import type { FloodAlarm, TrustedConnection } from './flood-alarm.js';

export type Handler = (request: IncomingMessage, response: ServerResponse) => void;

/**
 * The parser takes in all requests of what it is given, and each costs some kilobytes: it is given no more than this at
 * a time, while a read from the network brings 64 KiB.
 */
const MAX_PARSED_BYTES = 512;
/** Requests sent in advance, on all connections: those that are parsed, and those that are still octets. */
const MAX_WAITING_REQUESTS = 4_096;
const MAX_HELD_BYTES = 16_777_216;
/**
 * This little is the next request of a client that was quicker than the end of an answer; it need not wait for a turn.
 */
const MAX_PROMPT_BYTES = 4_096;
/** This many requests in advance are coincidence; after one more, the connection is read with care. */
const MAX_TRUSTED_REQUESTS = 4;
/** Waiting requests proceed at this pace, so that a flood of them leaves most of the processor to everyone else. */
const TURN_MS = 2;
const MAX_PER_TURN = 1;

interface TurnParts {
  readonly clock: Clock;
  readonly ended: EndedConnections;
  readonly alarm: FloodAlarm;
}

/** The requests on all connections of a server that wait for the answer to the previous one, in turn. */
export class RequestTurns {
  waitingRequests = 0;
  heldBytes = 0;
  readonly ended: EndedConnections;
  readonly alarm: FloodAlarm;
  readonly #clock: Clock;
  #queue: RequestSequence[] = [];

  constructor({ clock, ended, alarm }: TurnParts) {
    this.#clock = clock;
    this.ended = ended;
    this.alarm = alarm;
  }

  get isFull(): boolean {
    return this.waitingRequests >= MAX_WAITING_REQUESTS || this.heldBytes > MAX_HELD_BYTES;
  }

  /** To be called once for each turn that is wanted. A connection that is gone gets its turn, too. */
  enter(sequence: RequestSequence): void {
    this.#queue.push(sequence);
    if (this.#queue.length === 1) this.#schedule();
  }

  #take(): void {
    const waiting = this.#queue;
    this.#queue = waiting.slice(MAX_PER_TURN);
    if (this.#queue.length > 0) this.#schedule();
    for (const sequence of waiting.slice(0, MAX_PER_TURN)) sequence.takeTurn();
  }

  #schedule(): void {
    this.#clock.schedule(TURN_MS, () => this.#take());
  }
}

/**
 * One connection: its next request is handled once the previous one has been answered, and nothing more is read in the
 * meantime. HTTP allows requests in advance, and answers have to be sent in order: working on several at once would
 * only fill the memory with answers that cannot be sent yet.
 */
export class RequestSequence implements TrustedConnection {
  readonly #socket: Socket;
  readonly #turns: RequestTurns;
  #parse: ((chunk: Buffer) => void) | undefined;
  readonly #waiting: (() => void)[] = [];
  /** The request that was parsed last: while its body arrives, reading has to continue. */
  #last: IncomingMessage | undefined;
  #isAnswering = false;
  #heldBytes = 0;
  /** Octets that certainly belong to the body of the last request, and may be parsed at once. */
  #bodyBytes = 0;
  readonly #answered = (): void => {
    this.#isAnswering = false;
    const isPrompt = this.#waiting.length === 0 && this.#heldBytes <= MAX_PROMPT_BYTES;
    if (!isPrompt) this.#turns.enter(this);
    else if (this.#heldBytes > 0) this.#socket.resume();
  };

  constructor(socket: Socket, turns: RequestTurns) {
    this.#socket = socket;
    this.#turns = turns;
    socket.once('close', () => this.#forget());
    turns.alarm.trust(this);
  }

  /** From now on the parser gets the incoming data little by little, and no more than can be answered. */
  readInTurns(): void {
    const socket = this.#socket;
    if (socket.destroyed || this.#parse !== undefined) return;
    // The server's own listener feeds a parser; it now gets the data in turn instead of at once.
    const [parse] = socket.listeners('data') as ((chunk: Buffer) => void)[];
    if (parse === undefined) throw new Error('the server does not read its connections by events');
    this.#parse = parse;
    socket.removeListener('data', parse);
    // Node.js takes the connection away from the parser as soon as anybody else listens.
    socket.on('data', (chunk: Buffer) => this.#read(chunk));
  }

  /** Handles the request now, or after the previous one. */
  add(request: IncomingMessage, response: ServerResponse, handle: Handler): void {
    this.#last = request;
    this.#bodyBytes = Number(request.headers['content-length'] ?? 0);
    if (!this.#isAnswering && this.#waiting.length === 0) return this.#handle(request, response, handle);
    if (this.#socket.destroyed) return;
    if (this.#turns.isFull) return this.#end();
    this.#turns.waitingRequests += 1;
    this.#waiting.push(() => this.#handle(request, response, handle));
    if (this.#waiting.length > MAX_TRUSTED_REQUESTS) this.#turns.alarm.raise();
  }

  #read(chunk: Buffer): void {
    this.#setHeld(0);
    const socket = this.#socket;
    for (let at = 0; at < chunk.length;) {
      // An answer that ends the connection has been written, to this request or to input that is not HTTP: nothing
      // after it counts.
      if (socket.destroyed || socket.writableEnded) return;
      if (this.#mustWait) return this.#hold(at === 0 ? chunk : chunk.subarray(at));
      // The server itself has paused reading; it resumes when it is ready.
      if (socket.isPaused()) return void socket.unshift(chunk.subarray(at));
      const end = Math.min(chunk.length, at + Math.max(MAX_PARSED_BYTES, this.#bodyBytes));
      this.#parse?.(at === 0 && end === chunk.length ? chunk : chunk.subarray(at, end));
      // The head of the request is among them: what is left is less than the body, never more.
      this.#bodyBytes = Math.max(0, this.#bodyBytes - (end - at));
      at = end;
    }
  }

  takeTurn(): void {
    // A request read in the meantime is already being answered; the turn after that answer comes by itself.
    if (this.#socket.destroyed || this.#isAnswering) return;
    const handle = this.#waiting.shift();
    if (handle !== undefined) {
      this.#turns.waitingRequests -= 1;
      handle();
    }
    if (this.#heldBytes > 0 && !this.#mustWait) this.#socket.resume();
  }

  get #mustWait(): boolean {
    return this.#waiting.length > 0 || (this.#isAnswering && this.#last?.complete === true);
  }

  #handle(request: IncomingMessage, response: ServerResponse, handle: Handler): void {
    this.#isAnswering = true;
    noteAnswer(request, response);
    response.on('close', this.#answered);
    handle(request, response);
  }

  #hold(rest: Buffer): void {
    this.#setHeld(rest.length);
    if (rest.length > MAX_PROMPT_BYTES) this.#turns.alarm.raise();
    if (this.#turns.isFull) return this.#end();
    this.#socket.pause();
    this.#socket.unshift(rest);
  }

  #setHeld(bytes: number): void {
    this.#turns.heldBytes += bytes - this.#heldBytes;
    this.#heldBytes = bytes;
  }

  #end(): void {
    this.#turns.ended.count('pipelined');
    this.#socket.destroy();
  }

  #forget(): void {
    this.#turns.alarm.forget(this);
    this.#setHeld(0);
    this.#turns.waitingRequests -= this.#waiting.length;
    this.#waiting.length = 0;
  }
}
