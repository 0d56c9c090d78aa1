/** A request as it was sent, octet by octet. */
export class SeenRequest {
  body: Buffer = Buffer.alloc(0);
  isWhole = false;

  constructor(
    readonly method: string,
    readonly target: string,
    readonly headers: readonly (readonly [name: string, value: string])[],
  ) {}

  /** In lower case, each as often as it was sent. */
  get headerNames(): readonly string[] {
    return this.headers.map(([name]) => name.toLowerCase());
  }

  /** Every value of a header, in the order in which they were sent. */
  valuesOf(name: string): readonly string[] {
    return this.headers.filter(([given]) => given.toLowerCase() === name).map(([, value]) => value);
  }

  /** Everything that was sent, for searching. */
  get text(): string {
    const lines = this.headers.map(([name, value]) => `${name}: ${value}`);
    return [`${this.method} ${this.target}`, ...lines, '', this.body.toString('latin1')].join('\n');
  }
}

interface Step {
  readonly at: 'head' | 'request';
  readonly request: SeenRequest;
}

const HEAD_END = '\r\n\r\n';

/** Reads requests from the octets of one connection, one after the other. */
export class IncomingRequests {
  readonly none = new SeenRequest('', '', []);
  #octets: Buffer = Buffer.alloc(0);
  #current: SeenRequest | undefined;

  push(octets: Buffer): readonly Step[] {
    this.#octets = Buffer.concat([this.#octets, octets]);
    const steps: Step[] = [];
    for (;;) {
      const next = this.#current === undefined ? this.#head() : this.#body(this.#current);
      if (next === undefined) return steps;
      steps.push(next);
    }
  }

  #head(): Step | undefined {
    const end = this.#octets.indexOf(HEAD_END);
    if (end < 0) return undefined;
    const [line = '', ...lines] = this.#octets.toString('latin1', 0, end).split('\r\n');
    const [method = '', target = ''] = line.split(' ');
    const headers = lines.map((each): [string, string] => {
      const colon = each.indexOf(':');
      return [each.slice(0, colon), each.slice(colon + 1).trim()];
    });
    this.#octets = this.#octets.subarray(end + HEAD_END.length);
    this.#current = new SeenRequest(method, target, headers);
    return { at: 'head', request: this.#current };
  }

  #body(request: SeenRequest): Step | undefined {
    const isChunked = request.valuesOf('transfer-encoding').includes('chunked');
    const length = isChunked ? this.#chunkedLength() : Number(request.valuesOf('content-length')[0] ?? 0);
    if (length === undefined || this.#octets.length < length) return undefined;
    const raw = this.#octets.subarray(0, length);
    request.body = isChunked ? unchunked(raw) : Buffer.from(raw);
    request.isWhole = true;
    this.#octets = this.#octets.subarray(length);
    this.#current = undefined;
    return { at: 'request', request };
  }

  /** The length of the whole chunked body, without trailers; undefined until it has ended. */
  #chunkedLength(): number | undefined {
    const last = '0\r\n\r\n';
    const end = this.#octets.toString('latin1').startsWith(last) ? 0 : this.#octets.indexOf(`\r\n${last}`) + 2;
    return end === 1 ? undefined : end + last.length;
  }
}

function unchunked(raw: Buffer): Buffer {
  const chunks: Buffer[] = [];
  for (let at = 0; at < raw.length;) {
    const lineEnd = raw.indexOf('\r\n', at);
    const size = Number.parseInt(raw.toString('latin1', at, lineEnd), 16);
    if (size === 0) break;
    chunks.push(raw.subarray(lineEnd + 2, lineEnd + 2 + size));
    at = lineEnd + 2 + size + 2;
  }
  return Buffer.concat(chunks);
}
