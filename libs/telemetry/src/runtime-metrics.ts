import { constants, monitorEventLoopDelay, PerformanceObserver } from 'node:perf_hooks';
import { getHeapSpaceStatistics } from 'node:v8';
import type { Meter } from '@opentelemetry/api';

const NS_PER_S = 1_000_000_000;
const MS_PER_S = 1_000;
const GC_BUCKETS_S = [0.001, 0.01, 0.1, 1, 2, 5];

const GC_KINDS: ReadonlyMap<number, string> = new Map([
  [constants.NODE_PERFORMANCE_GC_MAJOR, 'major'],
  [constants.NODE_PERFORMANCE_GC_MINOR, 'minor'],
  [constants.NODE_PERFORMANCE_GC_INCREMENTAL, 'incremental'],
  [constants.NODE_PERFORMANCE_GC_WEAKCB, 'weakcb'],
]);

type Lag = ReturnType<typeof monitorEventLoopDelay>;

const LAGS: readonly (readonly [name: string, what: string, pick: (lag: Lag) => number])[] = [
  ['', 'The mean', ({ mean }) => mean],
  ['min_', 'The least', ({ min }) => min],
  ['max_', 'The greatest', ({ max }) => max],
  ['mean_', 'The mean', ({ mean }) => mean],
  ['stddev_', 'The standard deviation', ({ stddev }) => stddev],
  ['p50_', 'The 50th percentile', (lag) => lag.percentile(50)],
  ['p90_', 'The 90th percentile', (lag) => lag.percentile(90)],
  ['p99_', 'The 99th percentile', (lag) => lag.percentile(99)],
];

/**
 * `nodejs_*` metrics with the names that Prometheus dashboards know. Must be ended, since it subscribes to the runtime.
 */
export function observeRuntime(meter: Meter): { end(): void } {
  observeVersion(meter);
  observeHeap(meter);
  observeActive(meter);
  const ends = [observeEventLoop(meter), observeCollections(meter)];
  return { end: () => ends.forEach((end) => end()) };
}

function observeVersion(meter: Meter): void {
  const [major = '', minor = '', patch = ''] = process.versions.node.split('.');
  meter
    .createObservableGauge('nodejs_version_info', { description: 'The Node.js that runs' })
    .addCallback((result) => result.observe(1, { version: process.version, major, minor, patch }));
}

/** About the turns of the event loop since it was last read. No timer: each turn is a sample. */
function observeEventLoop(meter: Meter): () => void {
  const lag = monitorEventLoopDelay({ samplePerIteration: true });
  lag.enable();
  const gauges = LAGS.map(([name, what, pick]) => ({
    gauge: meter.createObservableGauge(`nodejs_eventloop_lag_${name}seconds`, {
      description: `${what} of how long turns of the event loop were late`,
      unit: 's',
    }),
    pick,
  }));
  meter.addBatchObservableCallback(
    (result) => {
      for (const { gauge, pick } of lag.count === 0 ? [] : gauges) result.observe(gauge, pick(lag) / NS_PER_S);
      lag.reset();
    },
    gauges.map(({ gauge }) => gauge),
  );
  return () => void lag.disable();
}

interface Collection {
  readonly duration: number;
  readonly detail: { readonly kind: number };
}

function observeCollections(meter: Meter): () => void {
  const seconds = meter.createHistogram('nodejs_gc_duration_seconds', {
    description: 'Collections of garbage, by kind',
    unit: 's',
    advice: { explicitBucketBoundaries: GC_BUCKETS_S },
  });
  const observer = new PerformanceObserver((list) => {
    for (const { duration, detail } of list.getEntries() as unknown as readonly Collection[]) {
      seconds.record(duration / MS_PER_S, { kind: GC_KINDS.get(detail.kind) ?? 'other' });
    }
  });
  observer.observe({ entryTypes: ['gc'] });
  return () => observer.disconnect();
}

function observeHeap(meter: Meter): void {
  const bytes = (name: string, description: string) =>
    meter.createObservableGauge(`nodejs_${name}_bytes`, { description, unit: 'By' });
  const total = bytes('heap_size_total', 'Size of the heap');
  const used = bytes('heap_size_used', 'Used of the heap');
  const external = bytes('external_memory', 'Memory outside the heap that objects hold');
  const spaceTotal = bytes('heap_space_size_total', 'Size of each space of the heap');
  const spaceUsed = bytes('heap_space_size_used', 'Used of each space of the heap');
  const spaceAvailable = bytes('heap_space_size_available', 'Left of each space of the heap');
  meter.addBatchObservableCallback(
    (result) => {
      const memory = process.memoryUsage();
      result.observe(total, memory.heapTotal);
      result.observe(used, memory.heapUsed);
      result.observe(external, memory.external);
      for (const each of getHeapSpaceStatistics()) {
        const space = { space: each.space_name.replace(/_space$/, '') };
        result.observe(spaceTotal, each.space_size, space);
        result.observe(spaceUsed, each.space_used_size, space);
        result.observe(spaceAvailable, each.space_available_size, space);
      }
    },
    [total, used, external, spaceTotal, spaceUsed, spaceAvailable],
  );
}

/**
 * Dashboards ask for handles and requests, which the runtime no longer separates: a request is recognised by its name.
 */
function observeActive(meter: Meter): void {
  const kinds = [
    { ...activeGauges(meter, 'resources', 'What keeps the event loop alive'), has: () => true },
    { ...activeGauges(meter, 'handles', 'Sockets, pipes and the like'), has: isHandle },
    { ...activeGauges(meter, 'requests', 'Operations under way'), has: isRequest },
  ];
  meter.addBatchObservableCallback(
    (result) => {
      const resources = process.getActiveResourcesInfo();
      for (const { byType, total, has } of kinds) {
        const counted = Map.groupBy(resources.filter(has), (type) => type);
        for (const [type, found] of counted) result.observe(byType, found.length, { type });
        result.observe(total, resources.filter(has).length);
      }
    },
    kinds.flatMap(({ byType, total }) => [byType, total]),
  );
}

function activeGauges(meter: Meter, what: string, description: string) {
  return {
    byType: meter.createObservableGauge(`nodejs_active_${what}`, { description: `${description}, by type` }),
    total: meter.createObservableGauge(`nodejs_active_${what}_total`, { description }),
  };
}

const isRequest = (type: string): boolean => /Req(?:Wrap|Callback|Promise)?$|^FSReq/.test(type);

const isHandle = (type: string): boolean => !isRequest(type) && type !== 'Timeout' && type !== 'Immediate';
