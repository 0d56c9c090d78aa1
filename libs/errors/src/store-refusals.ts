/** What a refusal by the store means to the person on call. */
export interface StoreRefusal {
  /** What is wrong, to follow `it` or `the store`. */
  readonly is: string;
  readonly remedy: string;
}

/** Keyed by the code that Redis begins its reply with. Each has a line in the store-down runbook. */
const refusals: ReadonlyMap<string, StoreRefusal> = new Map([
  [
    'READONLY',
    {
      is: 'is a replica and takes no writes',
      remedy: 'Have those who run Redis finish the failover, so that its address leads to the primary',
    },
  ],
  ['OOM', { is: 'has no memory left', remedy: 'Raise its maxmemory, or free memory' }],
  ['MISCONF', { is: 'cannot save to its disk, and takes no writes', remedy: 'Fix its disk: its own log says why' }],
  [
    'NOAUTH',
    {
      is: 'wants a password, and is given none',
      remedy: 'Set store.passwordFile, and restart one replica, then the others',
    },
  ],
  [
    'WRONGPASS',
    {
      is: 'does not take our password, or our user',
      remedy: 'Compare store.username and store.passwordFile with it: changed files need a restart, one replica first',
    },
  ],
  [
    'NOPERM',
    {
      is: 'denies our user a right',
      remedy: 'Run session-broker doctor, which has the line that grants it',
    },
  ],
  [
    'DENIED',
    {
      is: 'is in protected mode, which takes nobody from another machine',
      remedy: 'Give Redis a user or a password, and the broker the same',
    },
  ],
  ['LOADING', { is: 'is loading its data', remedy: 'Wait: it works again once all is loaded' }],
  [
    'MASTERDOWN',
    {
      is: 'is a replica that has lost its primary',
      remedy: 'Have those who run Redis bring the primary back, or finish the failover',
    },
  ],
]);

/** @returns undefined for a code that explains itself */
export function storeRefusal(code: string | undefined): StoreRefusal | undefined {
  return code === undefined ? undefined : refusals.get(code);
}
