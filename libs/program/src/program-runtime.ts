interface ProgramNeeds {
  /** How much memory it may use, in MiB: less is not enough for what its settings allow by default in the manifests. */
  readonly memoryMiB: number;
  /** From the request to end until it may be killed. */
  readonly stopSeconds: number;
}

interface ProgramRuntime {
  /** Node.js arguments before the program. */
  readonly nodeArguments: readonly string[];
  readonly environment: Readonly<Record<string, string>>;
  readonly broker: ProgramNeeds;
  readonly egress: ProgramNeeds;
}

/**
 * How broker and egress are run everywhere: image, compose, manifests, systemd, `npm run start:broker`, the demo and
 * the benches. A test keeps those that cannot import it equal to it.
 */
export const programRuntime: ProgramRuntime = {
  nodeArguments: [
    // SIGUSR1 would open the inspector, which reads every key in memory.
    '--disable-sigusr1',
    // Lets the program give back the memory that its start takes.
    '--expose-gc',
    // New objects get two semi-spaces of 8 MiB each: with V8's 64 MiB, what a flood of requests left behind was kept
    // for good.
    '--max-semi-space-size=8',
  ],
  environment: {
    NODE_ENV: 'production',
    // One arena: otherwise glibc keeps further ones for the threads that compute with keys.
    MALLOC_ARENA_MAX: '1',
    // glibc's default. Set explicitly, it stays fixed, and freed memory goes back.
    MALLOC_TRIM_THRESHOLD_: '131072',
    // What is read from a connection in one piece is larger, and goes back as soon as it is freed, whatever lies around
    // it.
    MALLOC_MMAP_THRESHOLD_: '32768',
  },
  broker: { memoryMiB: 320, stopSeconds: 30 },
  egress: { memoryMiB: 224, stopSeconds: 60 },
};
