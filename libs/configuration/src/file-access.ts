import type { Stats } from 'node:fs';
import { realpath, stat } from 'node:fs/promises';
import { dirname } from 'node:path';

const GROUP = 0o070;
const GROUP_READ = 0o040;
const OTHERS = 0o007;

export interface Ownership {
  /** Permission bits, as `stat` gives them. */
  readonly mode: number;
  /** Whether the file belongs to the user of this process. */
  readonly isOwn: boolean;
}

/**
 * Who else may open a secret file, in words; undefined if nobody. If the file belongs to another user, its group is the
 * broker's own way to read it: this is how Kubernetes mounts a Secret with `fsGroup`. Who may write it is a separate
 * matter.
 */
export function otherReaders({ mode, isOwn }: Ownership): string | undefined {
  if ((mode & OTHERS) !== 0) return 'every user of the machine';
  const ofGroup = mode & GROUP;
  return ofGroup === 0 || (!isOwn && ofGroup === GROUP_READ) ? undefined : 'its group';
}

type Passers = 'everyone' | 'group' | 'owner';

const OTHERS_PASS = 0o001;
const GROUP_PASSES = 0o010;
const OWNERS = 0o700;
const ROOT = 0;

/**
 * The part of a file's mode that is usable by whoever can pass all folders on the way to it. To the file, members of a
 * folder's group may count as others, so the bits for others are then those of the group.
 * @param file its path; links are followed
 * @param us the user of this process; undefined if the platform has no users
 */
export async function reachedMode(
  file: string,
  { mode, uid }: Pick<Stats, 'mode' | 'uid'>,
  us: number | undefined,
): Promise<number> {
  const passers = await passersTo(await realpath(file), [uid, us]);
  if (passers === 'everyone') return mode;
  return passers === 'owner' ? mode & OWNERS : (mode & ~OTHERS) | ((mode & OTHERS) << 3);
}

/**
 * @param real the path of the file without links
 * @param owners users who may read the file anyway; a folder that belongs to anybody else keeps nobody out, since that
 * user can open it
 */
async function passersTo(real: string, owners: readonly (number | undefined)[]): Promise<Passers> {
  let passers: Passers = 'everyone';
  for (let folder = dirname(real); passers !== 'owner'; folder = dirname(folder)) {
    const { mode, uid } = await stat(folder);
    const closes = uid === ROOT || owners.includes(uid);
    if (closes && (mode & OTHERS_PASS) === 0) passers = (mode & GROUP_PASSES) === 0 ? 'owner' : 'group';
    if (folder === dirname(folder)) break;
  }
  return passers;
}
