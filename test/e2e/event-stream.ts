export interface StreamedEvent {
  readonly id: string;
  readonly session: Record<string, unknown>;
}

interface AnyEvent {
  readonly event: string;
  readonly id: string;
  readonly data: Record<string, unknown>;
}

/** A consumer's end of an event stream, read with its own loop: the SDK's parser is not trusted here. */
export class EventStream {
  readonly response: Response;
  readonly #reader: ReadableStreamDefaultReader<Uint8Array>;
  readonly #gone = new AbortController();
  #text = '';

  private constructor(response: Response, gone: AbortController) {
    this.response = response;
    this.#gone = gone;
    if (response.body === null) throw new Error('the answer has no body');
    this.#reader = response.body.getReader();
  }

  static async open(url: string, headers: Record<string, string>): Promise<EventStream> {
    const gone = new AbortController();
    return new EventStream(await fetch(url, { headers, signal: gone.signal }), gone);
  }

  /** The next session; undefined if the stream has ended properly. */
  async next(): Promise<StreamedEvent | undefined> {
    for (;;) {
      const found = await this.nextOfAny();
      if (found === undefined || found.event === 'session') return found && { id: found.id, session: found.data };
    }
  }

  /** The next event, whatever it tells. */
  async nextOfAny(): Promise<AnyEvent | undefined> {
    for (;;) {
      const block = await this.#block();
      if (block === undefined) return undefined;
      const fields = new Map(block.split('\n').map((line) => splitField(line)));
      const [event, id = ''] = [fields.get('event'), fields.get('id')];
      if (event !== undefined) return { event, id, data: JSON.parse(fields.get('data') ?? '') as AnyEvent['data'] };
    }
  }

  /** Disconnects without notice. */
  vanish(): void {
    this.#gone.abort();
  }

  async #block(): Promise<string | undefined> {
    for (;;) {
      const end = this.#text.indexOf('\n\n');
      if (end >= 0) {
        const block = this.#text.slice(0, end);
        this.#text = this.#text.slice(end + 2);
        return block;
      }
      const { done, value } = await this.#reader.read();
      if (done) return undefined;
      this.#text += Buffer.from(value).toString();
    }
  }
}

function splitField(line: string): [string, string] {
  const colon = line.indexOf(': ');
  return colon < 0 ? [line, ''] : [line.slice(0, colon), line.slice(colon + 2)];
}
