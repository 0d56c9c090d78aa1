interface StreamedEvent {
  readonly id: string;
  readonly session: Record<string, unknown>;
}

/** A consumer's end of an event stream, read with its own loop: the SDK's parser is not trusted here. */
export class EventStream {
  readonly #gone: AbortController;
  readonly #events: AsyncIterator<StreamedEvent, undefined>;

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
    return (await this.#events.next()).value;
  }

  /** Disconnects without notice. */
  vanish(): void {
    this.#gone.abort();
  }
}

async function* eventsOf({ body }: Response): AsyncGenerator<StreamedEvent, undefined> {
  let text = '';
  for await (const piece of body ?? []) {
    const blocks = (text + Buffer.from(piece).toString()).split('\n\n');
    text = blocks.pop() ?? '';
    for (const block of blocks) {
      const [, id = ''] = /^id: (.*)$/m.exec(block) ?? [];
      const [, data = ''] = /^data: (.*)$/m.exec(block) ?? [];
      if (/^event: session$/m.test(block)) yield { id, session: JSON.parse(data) as StreamedEvent['session'] };
    }
  }
  return undefined;
}
