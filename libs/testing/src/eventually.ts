const POLL_MS = 20;

/** Waits for what another process does without notice: asks until it is done. For real time only. */
export async function eventually(isSo: () => boolean | Promise<boolean>, withinMs = 150_000): Promise<void> {
  const endsAtMs = performance.now() + withinMs;
  while (!(await isSo())) {
    if (performance.now() > endsAtMs) throw new Error(`what the test waits for did not happen within ${withinMs} ms`);
    await new Promise((resolve) => setTimeout(resolve, POLL_MS));
  }
}
