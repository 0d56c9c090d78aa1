/** The user who runs the checks. */
export interface OwnUser {
  /** Undefined if the platform has no user ids. */
  readonly uid: number | undefined;
  readonly groups: readonly number[];
}

export function ownUser(): OwnUser {
  const effective = process.getegid?.();
  return {
    uid: process.getuid?.(),
    groups: [...(effective === undefined ? [] : [effective]), ...(process.getgroups?.() ?? [])],
  };
}
