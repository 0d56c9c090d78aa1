import { promisify } from 'node:util';
import { gzip } from 'node:zlib';
import { diag } from '@opentelemetry/api';
import { AggregationTemporality, type InstrumentType, MetricReader } from '@opentelemetry/sdk-metrics';
import { dialectFor, takesGzip } from './accepted.js';
import { isGauge } from './current-gauges.js';
import type { Exemplars } from './exemplars.js';
import { type Dialect, exposition } from './exposition.js';

/** The part of a request that is read. */
export interface ScrapeRequest {
  readonly headers: {
    readonly accept?: string | undefined;
    readonly 'accept-encoding'?: string | string[] | undefined;
  };
}

/** The part of a response that is used. */
export interface ScrapeResponse {
  writeHead(status: number, headers: Readonly<Record<string, string | number>>): unknown;
  end(body?: string | Uint8Array): unknown;
}

const CONTENT_TYPES: Readonly<Record<Dialect, string>> = {
  text: 'text/plain; version=0.0.4; charset=utf-8',
  openmetrics: 'application/openmetrics-text; version=1.0.0; charset=utf-8',
};
const VARY = 'accept, accept-encoding';
const compressed = promisify(gzip);

/** Answers scrapes with the counts so far, and with the gauges as they are now. */
export class ScrapeReader extends MetricReader {
  readonly #exemplars: Exemplars | undefined;
  #isBound = false;

  constructor(exemplars?: Exemplars) {
    super({
      aggregationTemporalitySelector: (type: InstrumentType) =>
        isGauge(type) ? AggregationTemporality.DELTA : AggregationTemporality.CUMULATIVE,
    });
    this.#exemplars = exemplars;
  }

  /** Answers one scrape; if it fails, the answer is a 500, so that the scraper does not record false values. */
  async answer({ headers }: ScrapeRequest, response: ScrapeResponse): Promise<void> {
    try {
      const dialect = dialectFor(headers.accept);
      const text = Buffer.from(await this.#text(dialect));
      const encodings = headers['accept-encoding'];
      const isZipped = takesGzip(typeof encodings === 'string' ? encodings : encodings?.join(','));
      const body = isZipped ? await compressed(text) : text;
      response.writeHead(200, {
        'content-type': CONTENT_TYPES[dialect],
        ...(isZipped ? { 'content-encoding': 'gzip' } : {}),
        'content-length': body.byteLength,
        'cache-control': 'no-store',
        vary: VARY,
      });
      response.end(body);
    } catch (error) {
      diag.error(`the metrics could not be collected: ${error instanceof Error ? error.name : 'unknown'}`);
      response.writeHead(500, { 'content-type': 'text/plain; charset=utf-8', 'content-length': 0 });
      response.end();
    }
  }

  protected override onInitialized(): void {
    this.#isBound = true;
  }

  protected override async onForceFlush(): Promise<void> {}

  protected override async onShutdown(): Promise<void> {}

  /** Empty while telemetry is switched off. */
  async #text(dialect: Dialect): Promise<string> {
    const { resourceMetrics, errors } = this.#isBound
      ? await this.collect()
      : { resourceMetrics: { scopeMetrics: [] }, errors: [] };
    if (errors.length > 0) diag.error(`${errors.length} metrics could not be collected`);
    return exposition(resourceMetrics, { dialect, exemplars: this.#exemplars });
  }
}
