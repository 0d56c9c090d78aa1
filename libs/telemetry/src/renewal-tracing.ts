import { context, type Context, type Link, ROOT_CONTEXT, SpanStatusCode, trace, type Tracer } from '@opentelemetry/api';

/** Each renewal as a span with its steps below it: matches the shape of the domain's port. */
export interface RenewalTracing {
  renewal<Result extends { readonly kind: string }>(
    renewal: { readonly merchant: string; readonly trigger: string },
    run: () => Promise<Result>,
  ): Promise<Result>;
  step<Result>(step: string, run: () => Promise<Result>): Promise<Result>;
}

/**
 * A renewal is its own trace, because many requests wait for it and it outlives each of them; the request that
 * triggered it is linked to it.
 */
export function createRenewalTracing(tracer: Tracer): RenewalTracing {
  return {
    renewal: ({ merchant, trigger }, run) => {
      const cause = trace.getSpanContext(context.active());
      const links: Link[] = cause === undefined ? [] : [{ context: cause }];
      const attributes = { 'session_broker.merchant': merchant, 'session_broker.trigger': trigger };
      const span = tracer.startSpan('renewal', { attributes, links }, ROOT_CONTEXT);
      return inside(trace.setSpan(ROOT_CONTEXT, span), async () => {
        const result = await run();
        span.setAttribute('session_broker.result', result.kind);
        if (result.kind === 'failed' || result.kind === 'store_down') span.setStatus({ code: SpanStatusCode.ERROR });
        return result;
      });
    },
    step: (step, run) => inside(trace.setSpan(context.active(), tracer.startSpan(step)), run),
  };
}

/** Only the name of an error is recorded: messages are written for the log, which is redacted, and a trace is not. */
async function inside<Result>(own: Context, run: () => Promise<Result>): Promise<Result> {
  const span = trace.getSpan(own);
  try {
    return await context.with(own, run);
  } catch (error) {
    span?.setAttribute('error.type', error instanceof Error ? error.name : 'unknown');
    span?.setStatus({ code: SpanStatusCode.ERROR });
    throw error;
  } finally {
    span?.end();
  }
}
