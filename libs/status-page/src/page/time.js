/**
 * Passed in to whatever needs time, so that the page's rules stay pure.
 * @param {number} delayMs
 * @param {() => void} task
 * @returns {() => void} cancels the task
 */
export function after(delayMs, task) {
  const timer = setTimeout(task, delayMs);
  return () => clearTimeout(timer);
}
