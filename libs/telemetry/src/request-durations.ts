import type { Meter } from '@opentelemetry/api';

export interface ServedRequest {
  readonly method: string;
  /** The pattern of the path; empty if there is none. */
  readonly route: string;
  readonly status: number;
}

/** The buckets that the semantic conventions recommend. */
const BUCKETS_S = [0.005, 0.01, 0.025, 0.05, 0.075, 0.1, 0.25, 0.5, 0.75, 1, 2.5, 5, 7.5, 10];

const METHODS = new Set(['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS']);

/**
 * `http.server.request.duration` according to the semantic conventions; its labels are bounded, whatever is requested.
 */
export function createRequestDurations(meter: Meter): (seconds: number, request: ServedRequest) => void {
  const durations = meter.createHistogram('http.server.request.duration', {
    description: 'Duration of HTTP server requests',
    unit: 's',
    advice: { explicitBucketBoundaries: BUCKETS_S },
  });
  return (seconds, { method, route, status }) => {
    durations.record(seconds, {
      'http.request.method': METHODS.has(method) ? method : '_OTHER',
      'http.response.status_code': status,
      ...(route === '' ? {} : { 'http.route': route }),
    });
  };
}
