/**
 * What this package needs of `fetch`, and no more, so that the platform's and undici's both fit, whatever the version
 * of their types.
 */
export type Fetch = (url: string, init: FetchInit) => Promise<FetchAnswer>;

export interface FetchInit {
  readonly method: 'GET' | 'POST';
  readonly headers: Record<string, string>;
  readonly body?: string;
  /** A redirect would carry the credential elsewhere: it is reported, never followed. */
  readonly redirect: 'manual';
  readonly signal: AbortSignal;
}

export interface FetchAnswer {
  readonly status: number;
  readonly headers: { get(name: string): string | null };
  readonly body: FetchBody | null;
}

export interface FetchBody {
  getReader(): BodyReader;
  cancel(): Promise<void>;
}

export interface BodyReader {
  read(): Promise<{ done: boolean; value?: Uint8Array | undefined }>;
  cancel(): Promise<void>;
}
