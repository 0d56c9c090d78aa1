import { readdirSync, readFileSync } from 'node:fs';
import { type Meter, type Observable } from '@opentelemetry/api';
import type { Clock } from '#libs/clock';

/** What the process has used so far, and what it holds. Absent: not available on this system. */
interface ProcessFacts {
  readonly userSeconds: number;
  readonly systemSeconds: number;
  readonly residentBytes: number;
  readonly virtualBytes?: number;
  readonly dataBytes?: number;
  readonly openFiles?: number;
}

type NumberOf = (facts: ProcessFacts) => number | undefined;

const MS_PER_S = 1_000;
const MICROSECONDS_PER_S = 1_000_000;
const BYTES_PER_KB = 1_024;

const COUNTERS: readonly (readonly [name: string, description: string, pick: NumberOf])[] = [
  ['process_cpu_user_seconds', 'Processor time spent in user mode', (of) => of.userSeconds],
  ['process_cpu_system_seconds', 'Processor time spent in the system', (of) => of.systemSeconds],
  ['process_cpu_seconds', 'Processor time spent', (of) => of.userSeconds + of.systemSeconds],
];

const BYTES: readonly (readonly [name: string, description: string, pick: NumberOf])[] = [
  ['process_resident_memory_bytes', 'Memory that is held', (of) => of.residentBytes],
  ['process_virtual_memory_bytes', 'Addresses that are taken', (of) => of.virtualBytes],
  ['process_heap_bytes', 'Data that is private to the process', (of) => of.dataBytes],
];

/** `process_*` metrics with the names that Prometheus dashboards know. All values are read on demand. */
export function observeProcess(meter: Meter, clock: Clock): void {
  const watched: { observable: Observable; pick: NumberOf }[] = [
    ...COUNTERS.map(([name, description, pick]) => ({
      observable: meter.createObservableCounter(name, { description, unit: 's' }),
      pick,
    })),
    ...BYTES.map(([name, description, pick]) => ({
      observable: meter.createObservableGauge(name, { description, unit: 'By' }),
      pick,
    })),
    {
      observable: meter.createObservableGauge('process_open_fds', { description: 'Open file descriptors' }),
      pick: ({ openFiles }) => openFiles,
    },
  ];
  meter.addBatchObservableCallback(
    (result) => {
      const facts = processFacts();
      for (const { observable, pick } of watched) {
        const value = pick(facts);
        if (value !== undefined) result.observe(observable, value);
      }
    },
    watched.map(({ observable }) => observable),
  );
  observeWhatStays(meter, clock);
}

function observeWhatStays(meter: Meter, clock: Clock): void {
  const startedSeconds = clock.now() / MS_PER_S - process.uptime();
  meter
    .createObservableGauge('process_start_time_seconds', { description: 'When the process began', unit: 's' })
    .addCallback((result) => result.observe(startedSeconds));
  const mostFiles = mostOpenFiles();
  if (mostFiles === undefined) return;
  meter
    .createObservableGauge('process_max_fds', { description: 'The most file descriptors that may be open' })
    .addCallback((result) => result.observe(mostFiles));
}

function processFacts(): ProcessFacts {
  const { user, system } = process.cpuUsage();
  const status = told('/proc/self/status');
  return {
    userSeconds: user / MICROSECONDS_PER_S,
    systemSeconds: system / MICROSECONDS_PER_S,
    residentBytes: process.memoryUsage.rss(),
    ...kilobytes('virtualBytes', /^VmSize:\s+(\d+) kB$/m.exec(status)),
    ...kilobytes('dataBytes', /^VmData:\s+(\d+) kB$/m.exec(status)),
    ...openFiles(),
  };
}

function kilobytes<Name extends string>(name: Name, found: RegExpExecArray | null): { readonly [N in Name]?: number } {
  return found === null ? {} : ({ [name]: Number(found[1]) * BYTES_PER_KB } as { readonly [N in Name]?: number });
}

/** Does not count the descriptor through which the list itself is read. */
function openFiles(): { readonly openFiles?: number } {
  try {
    return { openFiles: readdirSync('/proc/self/fd').length - 1 };
  } catch {
    return {};
  }
}

function mostOpenFiles(): number | undefined {
  const most = /^Max open files\s+(\d+)/m.exec(told('/proc/self/limits'))?.[1];
  return most === undefined ? undefined : Number(most);
}

/** Empty if there is no such file: only Linux has them. */
function told(path: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return '';
  }
}
