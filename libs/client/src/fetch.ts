/**
 * What this package needs from `fetch`, and no more, so that both the platform's and undici's fit, whatever the version
 * of their types.
 */
export type Fetch = (url: string, init: FetchInit) => Promise<FetchAnswer>;

/** What this package passes to `fetch`. */
export interface FetchInit {
  readonly method: 'GET' | 'POST';
  readonly headers: Record<string, string>;
  readonly body?: string;
  /** A redirect would send the credential elsewhere, so it is reported and never followed. */
  readonly redirect: 'manual';
  readonly signal: AbortSignal;
}

/** What this package reads from an answer: a `Response` of the platform or of undici fits. */
export interface FetchAnswer {
  readonly status: number;
  readonly headers: { get(name: string): string | null };
  readonly body: FetchBody | null;
}

/** The body of an answer, a `ReadableStream` of octets. */
export interface FetchBody {
  getReader(): BodyReader;
  cancel(): Promise<void>;
}

/** The reader of a `FetchBody`. */
export interface BodyReader {
  read(): Promise<{ done: boolean; value?: Uint8Array | undefined }>;
  cancel(): Promise<void>;
}
