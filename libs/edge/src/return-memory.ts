/**
 * Gives back memory that a running server does not need: what the start took, which loads and compiles a thousand modules
 * and more, and what a flood of requests left behind. V8 by itself keeps both. Blocks for about a tenth of a second, so it
 * belongs before the ports are open, and behind what was worse. Node.js started without `--expose-gc` keeps the memory.
 */
export function returnMemory(): void {
  if (globalThis.gc === undefined) return;
  // With no tick alive, the collection would discard for good what the engine has learnt about the shape of ticks, and
  // each request would cost a third more.
  process.nextTick(() => undefined);
  globalThis.gc({ type: 'major', flavor: 'last-resort', execution: 'sync' });
}
