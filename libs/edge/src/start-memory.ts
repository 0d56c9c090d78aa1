/**
 * Gives back what the start took and a running server does not need: a thousand modules and more are loaded and compiled,
 * for which the heap grows to a size that it would keep: a third of the process. Blocks for about a tenth of a second, so it
 * belongs before the ports are open. Node.js started without `--expose-gc` keeps the memory.
 */
export function returnStartMemory(): void {
  if (globalThis.gc === undefined) return;
  // With no tick alive, the collection would discard for good what the engine has learnt about the shape of ticks, and
  // each request would cost a third more.
  process.nextTick(() => undefined);
  globalThis.gc({ type: 'major', flavor: 'last-resort', execution: 'sync' });
}
