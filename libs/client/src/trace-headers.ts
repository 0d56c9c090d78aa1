/**
 * Returns the headers that propagate a trace, such as `traceparent`. Called when a request begins, in the context of
 * its caller.
 */
export type TraceHeaders = () => Readonly<Record<string, string>>;

const NAME = /^[A-Za-z0-9-]{1,64}$/;
const VALUE = /^[\x20-\x7e]{0,8192}$/;
/** Headers that identify the caller or frame the request are not for tracing to set. */
const OURS: ReadonlySet<string> = new Set(['authorization', 'host', 'content-length', 'content-type', 'connection']);

/** No payment fails because of its trace: unsendable headers are left out, and an error is only a process warning. */
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
