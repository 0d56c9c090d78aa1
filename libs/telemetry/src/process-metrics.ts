import { readdirSync, readFileSync } from 'node:fs';
import { monitorEventLoopDelay } from 'node:perf_hooks';
import type { Meter, MetricOptions } from '@opentelemetry/api';
import type { Clock } from '#libs/clock';

const MS_PER_S = 1_000;
const MICROSECONDS_PER_S = 1_000_000;
const NS_PER_S = 1_000_000_000;

/**
 * What dashboards and runbooks ask of a process, by the names that Prometheus dashboards know. Read at each scrape.
 * @returns what has to be called when it ends, since the event loop is watched
 */
export function observeProcess(meter: Meter, clock: Clock): { end(): void } {
  const gauge = (name: string, options: MetricOptions, read: () => number | undefined): void =>
    meter.createObservableGauge(name, options).addCallback((result) => {
      const value = read();
      if (value !== undefined) result.observe(value);
    });
  meter
    .createObservableCounter('process_cpu_seconds', { description: 'Processor time spent', unit: 's' })
    .addCallback((result) => {
      const { user, system } = process.cpuUsage();
      result.observe((user + system) / MICROSECONDS_PER_S);
    });
  gauge('process_resident_memory_bytes', { description: 'Memory that is held', unit: 'By' }, () =>
    process.memoryUsage.rss(),
  );
  gauge(
    'nodejs_heap_size_used_bytes',
    { description: 'Used of the heap', unit: 'By' },
    () => process.memoryUsage().heapUsed,
  );
  const startedSeconds = clock.now() / MS_PER_S - process.uptime();
  gauge('process_start_time_seconds', { description: 'When the process began', unit: 's' }, () => startedSeconds);
  const mostFiles = mostOpenFiles();
  gauge('process_open_fds', { description: 'Open file descriptors' }, openFiles);
  gauge('process_max_fds', { description: 'The most file descriptors that may be open' }, () => mostFiles);
  // No timer: each turn of the event loop is a sample.
  const lag = monitorEventLoopDelay({ samplePerIteration: true });
  lag.enable();
  const description = 'The 99th percentile of how long turns of the event loop were late, since the last scrape';
  gauge('nodejs_eventloop_lag_p99_seconds', { description, unit: 's' }, () => {
    const seconds = lag.count === 0 ? undefined : lag.percentile(99) / NS_PER_S;
    lag.reset();
    return seconds;
  });
  return { end: () => void lag.disable() };
}

/** Undefined if there is no such list: only Linux has it. Leaves out the descriptor by which the list itself is read. */
function openFiles(): number | undefined {
  try {
    return readdirSync('/proc/self/fd').length - 1;
  } catch {
    return undefined;
  }
}

function mostOpenFiles(): number | undefined {
  try {
    const most = /^Max open files\s+(\d+)/m.exec(readFileSync('/proc/self/limits', 'utf8'))?.[1];
    return most === undefined ? undefined : Number(most);
  } catch {
    return undefined;
  }
}
