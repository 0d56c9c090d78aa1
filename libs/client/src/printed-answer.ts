/** A media type without its parameters, which could be anything. */
const MEDIA_TYPE = /^\s*([a-z]{1,20}\/[a-z0-9][a-z0-9.+-]{0,60})\s*(?:;|$)/i;

interface Headed {
  readonly status: number;
  readonly headers?: { get(name: string): unknown } | undefined;
}
interface Answer extends Headed {
  readonly headers: { get(name: string): unknown };
}

/** What may be said about any answer, in words that cannot quote the request. */
export function answerTexts({ status, headers }: Headed): readonly string[] {
  const media = mediaTypeOf(headers);
  return media === undefined ? [`status ${status}`] : [`status ${status}`, media];
}

export function mediaTypeOf(headers: Headed['headers']): string | undefined {
  const type = typeof headers?.get === 'function' ? headers.get('content-type') : undefined;
  const media = typeof type === 'string' ? MEDIA_TYPE.exec(type)?.[1] : undefined;
  return media?.toLowerCase();
}

/**
 * An error as it should be printed: if its cause is an answer to a fetch, Node.js prints a page of it, with headers
 * that do not belong in logs, such as cookies. The error itself keeps the answer.
 */
export function printedError(error: Error): Error {
  const { cause } = error;
  if (!isAnswer(cause)) return error;
  const contentType = mediaTypeOf(cause.headers);
  const shown = { status: cause.status, ...(contentType === undefined ? {} : { contentType }) };
  const members = Object.entries(Object.getOwnPropertyDescriptors(error)).filter(([, it]) => it.value !== undefined);
  // A new error, as Node.js prints no stack for any other object with the same prototype.
  const printed = Object.setPrototypeOf(new Error(error.message), Object.getPrototypeOf(error) as object) as Error;
  return Object.defineProperties(printed, {
    ...Object.fromEntries(members),
    stack: { value: error.stack, enumerable: false },
    cause: { value: shown, enumerable: false },
  });
}

/** An answer as fetch gives it, from any realm and any implementation. */
export function isAnswer(value: unknown): value is Answer {
  if (typeof value !== 'object' || value === null || !('status' in value) || !('headers' in value)) return false;
  const { status, headers } = value;
  if (typeof headers !== 'object' || headers === null || !('get' in headers)) return false;
  return typeof status === 'number' && typeof headers.get === 'function';
}
