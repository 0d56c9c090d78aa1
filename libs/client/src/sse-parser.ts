import { ProtocolError } from './errors.js';

export interface ServerSentEvent {
  /** `message` when the stream names none. */
  readonly type: string;
  readonly data: string;
  /** The last id that the stream gave; '' before the first. */
  readonly id: string;
}

const LF = 10;
const CR = 13;

/**
 * Reads an event stream (WHATWG HTML, section 9.2.6 "Interpreting an event stream") from octets that arrive in pieces
 * cut anywhere. Memory is bounded: a line or an event beyond the limit is a `ProtocolError`.
 */
export class SseParser {
  readonly #decoder = new TextDecoder('utf-8');
  readonly #maxCharacters: number;
  #unfinished = '';
  #endedInCr = false;
  #type = '';
  #data: string[] = [];
  #dataCharacters = 0;
  #id = '';
  /** Whole lines so far, comments included: they prove that the sender is alive, while single octets prove nothing. */
  lines = 0;
  /** How soon the sender wants to be asked again, once it has said so. */
  retryMs: number | undefined;

  /** @param options the limit for one line, and for the data of one event */
  constructor({ maxCharacters }: { readonly maxCharacters: number }) {
    this.#maxCharacters = maxCharacters;
  }

  /**
   * @returns the events that these octets complete
   * @throws ProtocolError when a line or an event is longer than allowed
   */
  push(octets: Uint8Array): ServerSentEvent[] {
    const text = this.#decoder.decode(octets, { stream: true });
    const events: ServerSentEvent[] = [];
    if (text === '') return events;
    let start = this.#endedInCr && text.charCodeAt(0) === LF ? 1 : 0;
    this.#endedInCr = false;
    for (let at = start; at < text.length; at += 1) {
      const character = text.charCodeAt(at);
      if (character !== LF && character !== CR) continue;
      this.#takeLine(this.#unfinished + text.slice(start, at), events);
      this.#unfinished = '';
      if (character === CR && text.charCodeAt(at + 1) === LF) at += 1;
      else if (character === CR && at + 1 === text.length) this.#endedInCr = true;
      start = at + 1;
    }
    this.#unfinished += text.slice(start);
    this.#demandBounded(this.#unfinished.length);
    return events;
  }

  #takeLine(line: string, events: ServerSentEvent[]): void {
    this.#demandBounded(line.length);
    this.lines += 1;
    if (line === '') return this.#dispatch(events);
    const colon = line.indexOf(':');
    if (colon === 0) return;
    const field = colon < 0 ? line : line.slice(0, colon);
    const value = colon < 0 ? '' : line.slice(line.charCodeAt(colon + 1) === 32 ? colon + 2 : colon + 1);
    this.#takeField(field, value);
  }

  #takeField(field: string, value: string): void {
    if (field === 'data') {
      this.#dataCharacters += value.length + 1;
      this.#demandBounded(this.#dataCharacters - 1);
      this.#data.push(value);
    } else if (field === 'event') this.#type = value;
    else if (field === 'id' && !value.includes('\0')) this.#id = value;
    else if (field === 'retry' && /^\d{1,9}$/.test(value)) this.retryMs = Number(value);
  }

  #dispatch(events: ServerSentEvent[]): void {
    const [type, data] = [this.#type, this.#data];
    this.#type = '';
    this.#data = [];
    this.#dataCharacters = 0;
    if (data.length > 0) events.push({ type: type === '' ? 'message' : type, data: data.join('\n'), id: this.#id });
  }

  #demandBounded(characters: number): void {
    if (characters <= this.#maxCharacters) return;
    throw new ProtocolError('event_too_large', `An event is longer than ${this.#maxCharacters} characters`);
  }
}
