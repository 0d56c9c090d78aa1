import { isTooOld, OLDEST_NODE } from '#libs/program';
import { type Check, fact, fault, type Finding, looked, warning } from '../check.js';

/** What the machine gives this process; what the platform does not report is absent. */
export interface MachineFacts {
  readonly nodeVersion: string;
  /** The soft limit of open files; Infinity if there is none. */
  readonly openFiles?: number;
  /** The memory that the process may use: the container's if there is one, otherwise the machine's. */
  readonly memoryBytes: number;
  readonly environment: Readonly<Record<string, string | undefined>>;
}

const MEBIBYTE = 2 ** 20;
const MIN_MEMORY_MIB = 256;
/** On top of the watchers: other callers, the store, gateways, files. */
const OTHER_OPEN_FILES = 1_024;

/** Node.js, limits and variables. It sees only this process: the broker itself may be given others. */
export function environmentCheck(machine: MachineFacts, maxWatchers: number): Check {
  return {
    name: 'environment',
    limitMs: 5_000,
    run: () => Promise.resolve(looked([...nodeFindings(machine), ...limitFindings(machine, maxWatchers)])),
  };
}

function nodeFindings({ nodeVersion, environment }: MachineFacts): readonly Finding[] {
  const node = isTooOld(nodeVersion)
    ? fault('failed', `Node.js ${nodeVersion} is too old`, `run at least ${OLDEST_NODE}`)
    : fact(`Node.js ${nodeVersion}`);
  return [
    node,
    ...(environment['NODE_TLS_REJECT_UNAUTHORIZED'] === '0'
      ? [warning('NODE_TLS_REJECT_UNAUTHORIZED is 0', 'remove it: the broker verifies certificates all the same')]
      : []),
    ...(/--inspect/.test(environment['NODE_OPTIONS'] ?? '')
      ? [warning('NODE_OPTIONS opens a debugger', 'remove --inspect: whoever connects to it reads every key')]
      : []),
  ];
}

function limitFindings({ openFiles, memoryBytes }: MachineFacts, maxWatchers: number): readonly Finding[] {
  const memoryMib = Math.floor(memoryBytes / MEBIBYTE);
  const neededFiles = maxWatchers + OTHER_OPEN_FILES;
  return [
    memoryMib < MIN_MEMORY_MIB
      ? warning(`${memoryMib} MiB of memory`, `give the broker at least ${MIN_MEMORY_MIB} MiB`)
      : fact(`${memoryMib} MiB of memory`),
    openFiles !== undefined && openFiles < neededFiles
      ? warning(
          `at most ${openFiles} open files, and http.maxWatchers alone allows ${maxWatchers} connections`,
          `raise the limit to ${neededFiles} (ulimit -n, LimitNOFILE), or lower http.maxWatchers`,
        )
      : fact(`open files: ${openFiles ?? 'the platform tells no limit'}`),
  ];
}
