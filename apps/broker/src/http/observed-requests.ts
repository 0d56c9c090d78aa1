import type { FastifyInstance, FastifyRequest } from 'fastify';
import type { RequestSpan, Telemetry } from '#libs/telemetry';

const MS_PER_S = 1_000;

/** Streams last half an hour: as spans and durations, they would say nothing about how the broker is doing. */
const isStream = ({ routeOptions: { url } }: FastifyRequest): boolean => url?.endsWith('/events') === true;

/** Counts and traces the requests that the framework serves. */
export function observeRequests(server: FastifyInstance, telemetry: Telemetry | undefined): void {
  if (telemetry === undefined) return;
  const { traces, requestSeconds } = telemetry;
  const spans = new WeakMap<FastifyRequest, RequestSpan>();
  server.addHook('onRequest', (request, _reply, done) => {
    const { url } = request.routeOptions;
    if (traces === undefined || url === undefined || isStream(request)) return done();
    const span = traces.startRequest({ method: request.method, route: url, headers: request.headers });
    spans.set(request, span);
    span.within(done);
  });
  // A body is read through socket events, which have no link to the request: from here on, its span is current again.
  server.addHook('preValidation', (request, _reply, done) => {
    const span = spans.get(request);
    if (span === undefined) done();
    else span.within(done);
  });
  server.addHook('onResponse', (request, reply, done) => {
    const { method, routeOptions } = request;
    const answered = { method, route: routeOptions.url ?? '', status: reply.statusCode };
    if (!isStream(request)) requestSeconds(reply.elapsedTime / MS_PER_S, answered);
    spans.get(request)?.end(reply.statusCode);
    done();
  });
}
