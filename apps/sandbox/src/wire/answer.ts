/** What an operation gives its caller, before anything goes wrong with it on the way. */
export interface Answer {
  readonly status: number;
  readonly contentType?: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body: string;
}

export function jsonAnswer(body: object | string, status = 200): Answer {
  return {
    status,
    contentType: 'application/json; charset=utf-8',
    body: typeof body === 'string' ? body : JSON.stringify(body),
  };
}

export function textAnswer(body: string): Answer {
  return { status: 200, contentType: 'text/plain; charset=utf-8', body };
}

/** Every header of the answer, including its length; `date` and `x-request_id` are given by the caller. */
export function headersOf(answer: Answer, extra: Readonly<Record<string, string>>): Record<string, string> {
  const isBodyless = answer.status === 204 || answer.status === 304;
  return {
    ...extra,
    ...(answer.contentType === undefined ? {} : { 'content-type': answer.contentType }),
    ...answer.headers,
    ...(isBodyless ? {} : { 'content-length': String(Buffer.byteLength(answer.body)) }),
  };
}
