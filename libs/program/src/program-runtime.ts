interface ProgramNeeds {
  /** What it may take of memory, in MiB: no less is enough for what its settings allow by default in the manifests. */
  readonly memoryMiB: number;
  /** From being asked to end until it may be ended by force. */
  readonly stopSeconds: number;
}

interface ProgramRuntime {
  /** What Node.js is told before the program. */
  readonly nodeArguments: readonly string[];
  readonly environment: Readonly<Record<string, string>>;
  readonly broker: ProgramNeeds;
  readonly egress: ProgramNeeds;
}

/**
 * How broker and egress are run, wherever that is: image, compose, manifests, systemd, `npm run start:broker`, the demo
 * and the benches. Those that cannot import it are held equal to it by a test.
 */
export const programRuntime: ProgramRuntime = {
  nodeArguments: [
    // SIGUSR1 would open the inspector, which reads every key in memory.
    '--disable-sigusr1',
    // The memory that a start takes is given back.
    '--expose-gc',
    // New objects get 8 MiB, in two halves that large: with V8's 64 MiB, what a flood of requests left behind was kept for good.
    '--max-semi-space-size=8',
  ],
  environment: {
    NODE_ENV: 'production',
    // One arena: glibc otherwise keeps some for each of the threads that compute with keys.
    MALLOC_ARENA_MAX: '1',
    // The default of glibc. Said aloud it stays what it is, and memory that was freed goes back.
    MALLOC_TRIM_THRESHOLD_: '131072',
    // What is read from a connection in one piece is larger, and goes back as soon as it is freed, whatever lies around it.
    MALLOC_MMAP_THRESHOLD_: '32768',
  },
  broker: { memoryMiB: 320, stopSeconds: 30 },
  egress: { memoryMiB: 224, stopSeconds: 60 },
};
