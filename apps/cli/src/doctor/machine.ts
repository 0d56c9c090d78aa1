import { readFile } from 'node:fs/promises';
import { totalmem } from 'node:os';
import { systemCodeOf } from '../system-error.js';
import type { MachineFacts } from './checks/environment-check.js';

/** What the platform says about this process. */
export async function machineFacts(environment: MachineFacts['environment']): Promise<MachineFacts> {
  const openFiles = await openFileLimit();
  // 0 or an absurdly large value means no limit.
  const constrained = process.constrainedMemory();
  const memoryBytes = constrained > 0 ? Math.min(constrained, totalmem()) : totalmem();
  return {
    nodeVersion: process.versions.node,
    memoryBytes,
    environment,
    ...(openFiles === undefined ? {} : { openFiles }),
  };
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
