import { readFile } from 'node:fs/promises';
import { totalmem } from 'node:os';
import type { Environment } from '#libs/configuration';
import { systemCodeOf } from '../system-error.js';
import { type Check, fact, type Finding, looked, warning } from './check.js';

/** What the machine gives this process. */
interface Limits {
  /** The soft limit of open files; Infinity if there is none, undefined if the platform does not say. */
  readonly openFiles: number | undefined;
  /** The memory that the process may use: the container's if there is one, otherwise the machine's. */
  readonly memoryBytes: number;
}

interface Surroundings {
  /** Connections that are open at the same time. */
  readonly connections: number;
  /** What allows so many of them. */
  readonly because: string;
  readonly environment: Environment;
}

const MEBIBYTE = 2 ** 20;
const MIN_MEMORY_MIB = 256;
/** On top of the connections: other callers, the store, gateways, files. */
const OTHER_OPEN_FILES = 1_024;

/** Limits and variables. It sees only this process: the one that is checked may be given others. */
export function environmentCheck(
  { connections, because, environment }: Surroundings,
  limits: () => Promise<Limits> = ownLimits,
): Check {
  return {
    name: 'environment',
    limitMs: 5_000,
    run: async () => {
      const { openFiles, memoryBytes } = await limits();
      const memoryMib = Math.floor(memoryBytes / MEBIBYTE);
      const needed = connections + OTHER_OPEN_FILES;
      return looked([
        memoryMib < MIN_MEMORY_MIB
          ? warning(`${memoryMib} MiB of memory`, `give the process at least ${MIN_MEMORY_MIB} MiB`)
          : fact(`${memoryMib} MiB of memory`),
        openFiles !== undefined && openFiles < needed
          ? warning(
              `at most ${openFiles} open files, but ${because} needs ${connections} connections`,
              `raise the limit to ${needed} (ulimit -n, LimitNOFILE)`,
            )
          : fact(`open files: ${openFiles ?? 'the platform tells no limit'}`),
        ...variableFindings(environment),
      ]);
    },
  };
}

function variableFindings({
  NODE_TLS_REJECT_UNAUTHORIZED: verifies,
  NODE_OPTIONS: options = '',
}: Environment): Finding[] {
  const trusting = warning(
    'NODE_TLS_REJECT_UNAUTHORIZED is 0',
    'remove it: with it, the OTLP exporter verifies nothing',
  );
  const open = warning('NODE_OPTIONS opens a debugger', 'remove --inspect: whoever connects to it reads every key');
  return [...(verifies === '0' ? [trusting] : []), ...(options.includes('--inspect') ? [open] : [])];
}

async function ownLimits(): Promise<Limits> {
  // 0 or an absurdly large value means no limit.
  const constrained = process.constrainedMemory();
  const memoryBytes = constrained > 0 ? Math.min(constrained, totalmem()) : totalmem();
  return { memoryBytes, openFiles: await openFileLimit() };
}

/** The soft limit, if there is a proc file system to read it from. */
async function openFileLimit(): Promise<number | undefined> {
  const limits = await readFile('/proc/self/limits', 'utf8').catch((error: unknown) => {
    if (systemCodeOf(error) === 'unknown') throw error;
    return '';
  });
  const soft = /^Max open files\s+(\S+)/m.exec(limits)?.[1];
  if (soft === undefined) return undefined;
  return soft === 'unlimited' ? Infinity : Number(soft);
}
