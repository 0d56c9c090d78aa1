import type { Stats } from 'node:fs';
import { realpath, stat } from 'node:fs/promises';
import { dirname, resolve } from 'node:path';
import { type NamedFile, reachedMode, whereLookedFor } from '#libs/configuration';
import { systemCodeOf } from '../../system-error.js';
import type { OwnUser } from '../own-user.js';
import { type Check, fact, fault, type Finding, looked, warning } from '../check.js';

interface FilesToCheck {
  /** The configuration file. */
  readonly file: string;
  readonly named: readonly NamedFile[];
  readonly user: OwnUser;
}

const ROOT = 0;
const OTHERS_READ = 0o004;
const OTHERS_WRITE = 0o002;
const GROUP_READ = 0o040;
const GROUP_WRITE = 0o020;
const STICKY = 0o1000;
const GROUP_AND_OTHERS = 0o077;

/** Owner and mode of every named file and of its folder, since anyone who can write to the folder can swap the file. */
export function filesCheck(files: FilesToCheck): Check {
  return {
    name: 'files',
    limitMs: 10_000,
    run: async () => {
      const folder = dirname(resolve(files.file));
      const own = { path: 'the configuration', file: resolve(files.file), content: 'public' } as const;
      const all = [own, ...files.named];
      const findings: Finding[] = [];
      const folders = new Map<string, string>();
      for (const named of all) findings.push(...(await lookAt(named, { folder, folders, user: files.user })));
      for (const [place, path] of folders) findings.push(...(await lookAtFolder(place, path)));
      return looked([fact(`files: ${all.length}, folders: ${folders.size}`), ...findings]);
    },
  };
}

interface Place {
  readonly folder: string;
  /** Real folders, each with the first setting that leads to it. */
  readonly folders: Map<string, string>;
  readonly user: OwnUser;
}

async function lookAt({ path, file, content }: NamedFile, place: Place): Promise<readonly Finding[]> {
  try {
    // Kubernetes mounts files as links: only their targets count.
    const real = await realpath(resolve(place.folder, file));
    if (!place.folders.has(dirname(real))) place.folders.set(dirname(real), path);
    const stats = await stat(real);
    const chmod = content === 'secret' ? 'chmod 600' : 'chmod go-w';
    const mode = await reachedMode(real, stats, place.user.uid);
    return [
      ...ownerFindings(path, stats, place.user.uid),
      ...modeFindings({
        ...{ path, mode, isSecret: content === 'secret', remedy: `${chmod} ${real}` },
        isOwnWayIn: isOwnWayIn(stats, place.user),
      }),
    ];
  } catch (error) {
    const where = await whereLookedFor(file, place.folder);
    const problem = `${path}: the file cannot be looked at (${systemCodeOf(error)})${where}`;
    return [fault('invalidInput', problem, 'check the path')];
  }
}

/**
 * Whether this user can reach another user's file only through its group, and that group may do no more than read it: a
 * Kubernetes Secret belongs to root and to the pod's group.
 */
function isOwnWayIn({ uid, gid, mode }: Stats, user: OwnUser): boolean {
  const isOfAnother = user.uid !== undefined && uid !== user.uid && user.uid !== ROOT;
  return isOfAnother && user.groups.includes(gid) && (mode & GROUP_AND_OTHERS) === GROUP_READ;
}

function ownerFindings(path: string, { uid }: Stats, ours: number | undefined): readonly Finding[] {
  if (ours === undefined || uid === ROOT || uid === ours || ours === ROOT) return [];
  return [warning(`${path}: the file belongs to user ${uid}`, 'give it to root, or to the user that runs the broker')];
}

interface Mode {
  readonly path: string;
  readonly mode: number;
  readonly isSecret: boolean;
  readonly isOwnWayIn: boolean;
  readonly remedy: string;
}

function modeFindings({ path, mode, isSecret, isOwnWayIn, remedy }: Mode): readonly Finding[] {
  if ((mode & OTHERS_WRITE) !== 0) return [fault('invalidInput', `${path}: every user can change the file`, remedy)];
  if (isSecret && (mode & OTHERS_READ) !== 0) {
    return [fault('invalidInput', `${path}: every user can read the secret`, remedy)];
  }
  return [
    ...((mode & GROUP_WRITE) !== 0 ? [warning(`${path}: its group can change the file`, remedy)] : []),
    ...(isSecret && !isOwnWayIn && (mode & GROUP_READ) !== 0
      ? [warning(`${path}: its group can read the secret`, `${remedy}, unless the group is the broker's alone`)]
      : []),
  ];
}

async function lookAtFolder(folder: string, path: string): Promise<readonly Finding[]> {
  const { mode } = await stat(folder);
  if ((mode & OTHERS_WRITE) !== 0 && (mode & STICKY) === 0) {
    return [fault('invalidInput', `${path}: every user can swap files in its folder`, `chmod o-w ${folder}`)];
  }
  return (mode & GROUP_WRITE) !== 0 && (mode & STICKY) === 0
    ? [warning(`${path}: a group can swap files in its folder`, `chmod g-w ${folder}`)]
    : [];
}
