const POLL_MS = 20;
const MAX_PAUSE_MS = 1_000;

const pauseMs = (askingTookMs: number): number => Math.min(MAX_PAUSE_MS, Math.max(POLL_MS, 2 * askingTookMs));

/**
 * Waits for what another process does without notice: asks until it is done. For real time only. A question that takes
 * long, such as one that starts a program, is asked less often: it must not keep the machine from what is waited for.
 */
export async function eventually(isSo: () => boolean | Promise<boolean>, withinMs = 150_000): Promise<void> {
  const endsAtMs = performance.now() + withinMs;
  for (;;) {
    const askedAtMs = performance.now();
    if (await isSo()) return;
    const nowMs = performance.now();
    if (nowMs > endsAtMs) throw new Error(`what the test waits for did not happen within ${withinMs} ms`);
    await new Promise((resolve) => setTimeout(resolve, pauseMs(nowMs - askedAtMs)));
  }
}
