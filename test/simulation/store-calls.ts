import type { SessionStore } from '#libs/session';

export type StoreOperation = Exclude<keyof SessionStore, 'onAnnouncement' | 'close'>;
export type ArgumentsOf<Operation extends StoreOperation> = Parameters<SessionStore[Operation]>;
export type ResultOf<Operation extends StoreOperation> = Awaited<ReturnType<SessionStore[Operation]>>;

/** One question to the store, as it travels. */
export type StoreCall = {
  [Operation in StoreOperation]: { readonly operation: Operation; readonly args: ArgumentsOf<Operation> };
}[StoreOperation];

/** A question that the store has answered, with its answer. */
export type AppliedCall = {
  [Operation in StoreOperation]: {
    readonly operation: Operation;
    readonly args: ArgumentsOf<Operation>;
    readonly result: ResultOf<Operation>;
  };
}[StoreOperation];

const reading: ReadonlySet<StoreOperation> = new Set<StoreOperation>(['due', 'read', 'announce']);

export const writes = ({ operation }: StoreCall): boolean => !reading.has(operation);

/** Puts the question to `store`. */
export async function perform(store: SessionStore, call: StoreCall): Promise<AppliedCall> {
  const method = store[call.operation].bind(store) as (...args: readonly unknown[]) => Promise<unknown>;
  const result = await method(...call.args);
  return { ...call, result } as AppliedCall;
}
