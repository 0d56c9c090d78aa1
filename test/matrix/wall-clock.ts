/** The wall clock of this machine, finer than milliseconds. */
export function wallMs(): number {
  return performance.timeOrigin + performance.now();
}
