interface AnyEvent {
  readonly event: string;
  readonly id: string;
  readonly data: Record<string, unknown>;
}

export interface StreamedEvent {
  readonly id: string;
  readonly session: AnyEvent['data'];
}

/** A consumer's end of an event stream, read with its own loop: the SDK's parser is not trusted here. */
export class EventStream {
  readonly #gone: AbortController;
  readonly #events: AsyncIterator<AnyEvent, undefined>;

  private constructor(
    readonly response: Response,
    gone: AbortController,
  ) {
    this.#gone = gone;
    this.#events = eventsOf(response);
  }

  static async open(url: string, headers: Record<string, string>): Promise<EventStream> {
    const gone = new AbortController();
    return new EventStream(await fetch(url, { headers, signal: gone.signal }), gone);
  }

  /** The next session; undefined if the stream has ended properly. */
  async next(): Promise<StreamedEvent | undefined> {
    let found = await this.nextOfAny();
    while (found !== undefined && found.event !== 'session') found = await this.nextOfAny();
    return found && { id: found.id, session: found.data };
  }

  /** The next event, whatever it tells. */
  async nextOfAny(): Promise<AnyEvent | undefined> {
    return (await this.#events.next()).value;
  }

  /** Disconnects without notice. */
  vanish(): void {
    this.#gone.abort();
  }
}

async function* eventsOf({ body }: Response): AsyncGenerator<AnyEvent, undefined> {
  let text = '';
  for await (const piece of body ?? []) {
    const blocks = (text + Buffer.from(piece).toString()).split('\n\n');
    text = blocks.pop() ?? '';
    for (const block of blocks) {
      const [, event] = /^event: (.*)$/m.exec(block) ?? [];
      const [, id = ''] = /^id: (.*)$/m.exec(block) ?? [];
      const [, data = ''] = /^data: (.*)$/m.exec(block) ?? [];
      if (event !== undefined) yield { event, id, data: JSON.parse(data) as AnyEvent['data'] };
    }
  }
  return undefined;
}
