/** The user who looks. */
export interface OwnUser {
  /** Undefined where the platform knows no users. */
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
