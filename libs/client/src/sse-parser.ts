import { ProtocolError } from './errors.js';

export interface ServerSentEvent {
  /** `message` when the stream names none. */
  readonly type: string;
  readonly data: string;
}

/**
 * Reads an event stream (WHATWG HTML, section 9.2.6 "Interpreting an event stream") from octets that arrive in pieces
 * cut anywhere, as the broker writes it: lines end in LF or CRLF, and neither ids nor `retry` mean anything. Memory is bounded: a line or an
 * event beyond the limit is a `ProtocolError`.
 */
export class SseParser {
  readonly #decoder = new TextDecoder('utf-8');
  readonly #maxCharacters: number;
  #unfinished = '';
  #type = '';
  #data: string[] = [];
  #dataCharacters = 0;
  /** Whole lines so far, comments included: they prove that the sender is alive, while single octets prove nothing. */
  lines = 0;

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
    let start = 0;
    for (let end = text.indexOf('\n'); end >= 0; end = text.indexOf('\n', start)) {
      const line = this.#unfinished + text.slice(start, end);
      this.#takeLine(line.endsWith('\r') ? line.slice(0, -1) : line, events);
      this.#unfinished = '';
      start = end + 1;
    }
    this.#unfinished += text.slice(start);
    this.#demandBounded(this.#unfinished.length);
    return events;
  }

  #takeLine(line: string, events: ServerSentEvent[]): void {
    this.#demandBounded(line.length);
    this.lines += 1;
    if (line === '') return this.#dispatch(events);
    // A line without a colon is a field without a value; one that begins with it is a comment.
    const [, field, value = ''] = /^([^:]+)(?:: ?([^]*))?$/.exec(line) ?? [];
    if (field === 'data') {
      this.#dataCharacters += value.length + 1;
      this.#demandBounded(this.#dataCharacters - 1);
      this.#data.push(value);
    } else if (field === 'event') this.#type = value;
  }

  #dispatch(events: ServerSentEvent[]): void {
    if (this.#data.length > 0) events.push({ type: this.#type || 'message', data: this.#data.join('\n') });
    this.#type = '';
    this.#data = [];
    this.#dataCharacters = 0;
  }

  #demandBounded(characters: number): void {
    if (characters <= this.#maxCharacters) return;
    throw new ProtocolError('event_too_large', `An event is longer than ${this.#maxCharacters} characters`);
  }
}
