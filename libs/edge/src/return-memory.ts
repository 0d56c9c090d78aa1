/**
 * Gives back memory that a running server does not need: what the start took, which loads and compiles more than a
 * thousand modules, and what a flood of requests left behind. V8 on its own keeps both. Blocks for about a tenth of a
 * second, so it should run before the ports are open, or after something worse. Node.js started without `--expose-gc`
 * keeps the memory.
 */
export function returnMemory(): void {
  if (globalThis.gc === undefined) return;
  // With no tick alive, the collection would permanently discard what the engine has learnt about the shape of ticks,
  // and each request would cost a third more.
  process.nextTick(() => undefined);
  globalThis.gc({ type: 'major', flavor: 'last-resort', execution: 'sync' });
}
