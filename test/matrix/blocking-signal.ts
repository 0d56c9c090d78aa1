/** Loaded into a broker that is to be blocked: SIGUSR2 keeps its event loop busy, as a long loop would. */
const BLOCKED_FOR_MS = 3_000;

process.on('SIGUSR2', () => {
  const endsAtMs = performance.now() + BLOCKED_FOR_MS;
  while (performance.now() < endsAtMs);
});

export {};
