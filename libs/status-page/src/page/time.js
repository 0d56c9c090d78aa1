/** What needs time is given these, so that the page's rules are pure. */

/** @returns milliseconds since the page was opened; never goes back, whatever the wall clock does */
export function monotonicMs() {
  return performance.now();
}

/**
 * @param {number} delayMs
 * @param {() => void} task
 * @returns {() => void} calls the task off
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
