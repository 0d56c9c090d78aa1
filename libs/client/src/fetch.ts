/**
 * What this package needs of `fetch`, and no more, so that the platform's and undici's both fit, whatever the version
 * of their types.
 */
export type Fetch = (url: string, init: FetchInit) => Promise<FetchAnswer>;

/** What this package asks of a `fetch`. */
export interface FetchInit {
  readonly method: 'GET' | 'POST';
  readonly headers: Record<string, string>;
  readonly body?: string;
  /** A redirect would carry the credential elsewhere: it is reported, never followed. */
  readonly redirect: 'manual';
  readonly signal: AbortSignal;
}

/** What it reads of an answer: a `Response` of the platform or of undici fits. */
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

/** Its reader. */
export interface BodyReader {
  read(): Promise<{ done: boolean; value?: Uint8Array | undefined }>;
  cancel(): Promise<void>;
}
