import type { IncomingMessage, ServerResponse } from 'node:http';
import { LoopbackServer } from '#libs/testing';

export interface CollectedSpan {
  readonly traceId: string;
  readonly spanId: string;
  readonly parentSpanId?: string;
  readonly name: string;
  readonly attributes: readonly { readonly key: string; readonly value: Record<string, unknown> }[];
  readonly links?: readonly { readonly traceId: string; readonly spanId: string }[];
  readonly status: { readonly code?: number };
}

interface TraceRequest {
  readonly resourceSpans: readonly { readonly scopeSpans: readonly { readonly spans: readonly CollectedSpan[] }[] }[];
}

/** The receiving end of OTLP over HTTP: keeps what it is sent, both raw and as spans. */
export class Collector {
  readonly bodies: Buffer[] = [];
  readonly paths: string[] = [];
  readonly spans: CollectedSpan[] = [];
  #server: LoopbackServer | undefined;

  static async start(): Promise<Collector> {
    const collector = new Collector();
    collector.#server = await LoopbackServer.http((request, response) => void collector.#take(request, response));
    return collector;
  }

  get url(): string {
    return `http://127.0.0.1:${this.#server?.port}`;
  }

  /** What a broker needs to push here, at once and in JSON. */
  get environment(): Record<string, string> {
    return {
      OTEL_EXPORTER_OTLP_ENDPOINT: this.url,
      OTEL_EXPORTER_OTLP_PROTOCOL: 'http/json',
      OTEL_BSP_SCHEDULE_DELAY: '50',
      OTEL_METRIC_EXPORT_INTERVAL: '300',
      OTEL_METRIC_EXPORT_TIMEOUT: '200',
    };
  }

  named(name: string): CollectedSpan[] {
    return this.spans.filter((span) => span.name === name);
  }

  close(): Promise<void> | undefined {
    return this.#server?.close();
  }

  async #take(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const chunks: Buffer[] = [];
    for await (const chunk of request as AsyncIterable<Buffer>) chunks.push(chunk);
    const body = Buffer.concat(chunks);
    this.bodies.push(body);
    this.paths.push(request.url ?? '');
    if (request.url === '/v1/traces') {
      const { resourceSpans } = JSON.parse(body.toString()) as TraceRequest;
      this.spans.push(...resourceSpans.flatMap(({ scopeSpans }) => scopeSpans.flatMap(({ spans }) => spans)));
    }
    response.setHeader('content-type', 'application/json').end('{}');
  }
}

export function attributesOf({ attributes }: CollectedSpan): Record<string, unknown> {
  return Object.fromEntries(attributes.map(({ key, value }) => [key, Object.values(value)[0]]));
}
