import { stat } from 'node:fs/promises';
import { dirname } from 'node:path';

/** Who gets past all folders on the way to a file; what its own mode allows to anybody else means nothing. */
export type Passers = 'everyone' | 'group' | 'owner';

const OTHERS_PASS = 0o001;
const GROUP_PASSES = 0o010;
const ROOT = 0;

/**
 * @param real the path of the file without links
 * @param owners users who may read the file anyway; the folder of anybody else closes nothing, since that user can open it
 */
export async function passersTo(real: string, owners: readonly (number | undefined)[]): Promise<Passers> {
  let passers: Passers = 'everyone';
  for (let folder = dirname(real); passers !== 'owner'; folder = dirname(folder)) {
    const { mode, uid } = await stat(folder);
    const closes = uid === ROOT || owners.includes(uid);
    if (closes && (mode & OTHERS_PASS) === 0) passers = (mode & GROUP_PASSES) === 0 ? 'owner' : 'group';
    if (folder === dirname(folder)) break;
  }
  return passers;
}
