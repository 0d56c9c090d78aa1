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
