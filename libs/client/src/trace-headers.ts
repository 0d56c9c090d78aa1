/**
 * Gives the headers that pass a trace on, such as `traceparent`. It is asked when a request begins, in the context of
 * whoever waits for it.
 */
export type TraceHeaders = () => Readonly<Record<string, string>>;

const NAME = /^[A-Za-z0-9-]{1,64}$/;
const VALUE = /^[\x20-\x7e]{0,8192}$/;
/** What names the caller or frames the request is not tracing's to say. */
const OURS: ReadonlySet<string> = new Set(['authorization', 'host', 'content-length', 'content-type', 'connection']);

/** No payment fails for its trace: what throws or cannot be sent is left out, and shows as a warning of the process. */
export function traceHeadersFrom(source: TraceHeaders | undefined): Record<string, string> {
  if (source === undefined) return {};
  try {
    const given = Object.entries(source()).map(([name, value]) => [name.toLowerCase(), value] as const);
    return Object.fromEntries(given.filter(([name, value]) => NAME.test(name) && !OURS.has(name) && VALUE.test(value)));
  } catch (error) {
    const name = error instanceof Error ? error.name : typeof error;
    process.emitWarning(`traceHeaders of the session broker client threw (${name})`, { code: 'SESSION_BROKER_TRACE' });
    return {};
  }
}
