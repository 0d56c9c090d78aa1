/** In the order in which they run. */
export const BENCH_NAMES = [
  'jwe',
  'http',
  'account',
  'payloads',
  'client',
  'watchers',
  'payments',
  'handover',
  'egress',
  'start',
  'restart',
  'memory',
  'renewals',
  'overhead',
  'scale',
  'scrape',
  'starvation',
  'telemetry',
] as const;

export type BenchName = (typeof BENCH_NAMES)[number];
