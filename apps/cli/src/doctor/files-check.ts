import type { Stats } from 'node:fs';
import { realpath, stat } from 'node:fs/promises';
import { dirname, resolve } from 'node:path';
import type { NamedFile } from '#libs/configuration';
import { systemCodeOf } from '../system-error.js';
import { type Check, fact, fault, type Finding, looked, warning } from './check.js';

const ROOT = 0;
const OTHERS_READ = 0o004;
const OTHERS_WRITE = 0o002;
const GROUP_WRITE = 0o020;
const STICKY = 0o1000;

/**
 * Owner and mode of the configuration, of every file that it names, and of their folders, since anyone who can write to
 * the folder can swap the file. What only the group of a secret can read is among the warnings of the configuration.
 */
export function filesCheck(configuration: string, named: readonly NamedFile[]): Check {
  return {
    name: 'files',
    limitMs: 10_000,
    run: async () => {
      const file = resolve(configuration);
      const all: readonly NamedFile[] = [{ path: 'the configuration', file, content: 'public' }, ...named];
      const findings: Finding[] = [];
      /** Real folders, each with the first setting that leads to it. */
      const folders = new Map<string, string>();
      for (const each of all) {
        try {
          // Kubernetes mounts files as links: only their targets count.
          const real = await realpath(resolve(dirname(file), each.file));
          if (!folders.has(dirname(real))) folders.set(dirname(real), each.path);
          findings.push(...(await lookAt(each, real)));
        } catch (error) {
          const problem = `${each.path}: the file cannot be looked at (${systemCodeOf(error)})`;
          findings.push(fault('invalidInput', problem, 'check the path'));
        }
      }
      for (const [folder, path] of folders) findings.push(...folderFindings(path, folder, await stat(folder)));
      return looked([fact(`files: ${all.length}, folders: ${folders.size}`), ...findings]);
    },
  };
}

async function lookAt({ path, content }: NamedFile, real: string): Promise<readonly Finding[]> {
  const stats = await stat(real);
  const { mode } = stats;
  const chmod = `${content === 'secret' ? 'chmod 600' : 'chmod go-w'} ${real}`;
  const owner = ownerFindings(path, stats);
  if ((mode & OTHERS_WRITE) !== 0)
    return [...owner, fault('invalidInput', `${path}: every user can change the file`, chmod)];
  if (content === 'secret' && (mode & OTHERS_READ) !== 0)
    return [...owner, fault('invalidInput', `${path}: every user can read the secret`, chmod)];
  return (mode & GROUP_WRITE) === 0 ? owner : [...owner, warning(`${path}: its group can change the file`, chmod)];
}

function ownerFindings(path: string, { uid }: Stats): readonly Finding[] {
  const ours = process.getuid?.();
  if (ours === undefined || [ROOT, ours].includes(uid) || ours === ROOT) return [];
  return [warning(`${path}: the file belongs to user ${uid}`, 'give it to root, or to the user that runs the process')];
}

function folderFindings(path: string, folder: string, { mode }: Stats): readonly Finding[] {
  if ((mode & STICKY) !== 0) return [];
  if ((mode & OTHERS_WRITE) !== 0)
    return [fault('invalidInput', `${path}: every user can swap files in its folder`, `chmod o-w ${folder}`)];
  return (mode & GROUP_WRITE) === 0
    ? []
    : [warning(`${path}: a group can swap files in its folder`, `chmod g-w ${folder}`)];
}
