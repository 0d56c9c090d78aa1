/** Passed in to whatever needs time, so that the page's rules stay pure. */

/** @returns milliseconds since the page was opened; never goes back, whatever the wall clock does */
export function monotonicMs() {
  return performance.now();
}

/**
 * @param {number} delayMs
 * @param {() => void} task
 * @returns {() => void} cancels the task
 */
export function after(delayMs, task) {
  const timer = setTimeout(task, delayMs);
  return () => clearTimeout(timer);
}

/**
 * @param {number} periodMs
 * @param {() => void} task
 */
export function every(periodMs, task) {
  setInterval(task, periodMs);
}
