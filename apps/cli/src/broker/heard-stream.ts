import type { SessionBrokerOptions } from '#libs/client';

type Fetch = NonNullable<SessionBrokerOptions['fetch']>;
type Body = NonNullable<Awaited<ReturnType<Fetch>>['body']>;

/**
 * Reports every sign of life of an event stream: the client package reports only the first, and gives the stream up
 * only long after the last.
 */
export function heardThrough(ask: Fetch, onSign: () => void): Fetch {
  return async (url, init) => {
    const { status, headers, body } = await ask(url, init);
    const isStream = headers.get('content-type')?.startsWith('text/event-stream') === true;
    return { status, headers, body: isStream && body !== null ? heard(body, onSign) : body };
  };
}

function heard(body: Body, onSign: () => void): Body {
  const getReader = (): ReturnType<Body['getReader']> => {
    const reader = body.getReader();
    const read = async (): ReturnType<typeof reader.read> => {
      const part = await reader.read();
      if (!part.done) onSign();
      return part;
    };
    return { read, cancel: () => reader.cancel() };
  };
  return { getReader, cancel: () => body.cancel() };
}
