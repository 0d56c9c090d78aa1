import {
  type Context,
  context,
  propagation,
  ROOT_CONTEXT,
  SpanKind,
  SpanStatusCode,
  trace,
  type Tracer,
} from '@opentelemetry/api';

export interface TracedRequest {
  readonly method: string;
  /** The pattern of the path, never the path itself, which may contain a secret and is unbounded. */
  readonly route: string;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
}

/** What was learned about a request: names from the configuration and our own, never what a caller sent. */
export type SpanFacts = Readonly<Record<string, string>>;

/** The span of a call that is made on behalf of a request. */
export interface CallSpan {
  /** The context to send on, in place of the caller's: `traceparent` and what goes with it. */
  readonly headers: Readonly<Record<string, string>>;
  /** @param status of the answer; undefined if there was none */
  end(status: number | undefined): void;
}

/** The span of a request that is being served. */
export interface RequestSpan {
  /** Runs the work of the request, so that renewals, log lines and spans below it know about it. */
  within(run: () => void): void;
  /** Begins a call to another service, as a child of the request; each repetition is a separate call. */
  call(method: string): CallSpan;
  end(status: number, facts?: SpanFacts): void;
}

/**
 * A span for a request, according to the semantic conventions of HTTP servers; sampled as its caller wants, or as the
 * settings here say.
 */
export function startRequestSpan(tracer: Tracer, { method, route, headers }: TracedRequest): RequestSpan {
  const parent = propagation.extract(ROOT_CONTEXT, headers);
  const attributes = { 'http.request.method': method, 'http.route': route };
  const span = tracer.startSpan(`${method} ${route}`, { kind: SpanKind.SERVER, attributes }, parent);
  const own = trace.setSpan(parent, span);
  return {
    within: (run) => context.with(own, run),
    call: (called) => startCallSpan(tracer, called, own),
    end: (status, facts) => {
      if (facts !== undefined) span.setAttributes(facts);
      span.setAttribute('http.response.status_code', status);
      if (status >= 500) span.setStatus({ code: SpanStatusCode.ERROR });
      span.end();
    },
  };
}

/**
 * According to the semantic conventions of HTTP clients, but without an address, because a path may contain a secret.
 */
function startCallSpan(tracer: Tracer, method: string, request: Context): CallSpan {
  const attributes = { 'http.request.method': method };
  const span = tracer.startSpan(method, { kind: SpanKind.CLIENT, attributes }, request);
  const headers: Record<string, string> = {};
  propagation.inject(trace.setSpan(request, span), headers);
  return {
    headers,
    end: (status) => {
      if (status !== undefined) span.setAttribute('http.response.status_code', status);
      if (status === undefined || status >= 400) span.setStatus({ code: SpanStatusCode.ERROR });
      span.end();
    },
  };
}

/** Whether the caller is recording its trace (W3C Trace Context, section 3.2.2.5). */
export function isSampledIn(traceparent: string | string[] | undefined): boolean {
  const flags =
    typeof traceparent === 'string'
      ? /^[\da-f]{2}-[\da-f]{32}-[\da-f]{16}-([\da-f]{2})/.exec(traceparent)?.[1]
      : undefined;
  return flags !== undefined && (Number.parseInt(flags, 16) & 1) === 1;
}
