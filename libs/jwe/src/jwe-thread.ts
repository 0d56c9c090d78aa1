import type { webcrypto } from 'node:crypto';
import { Worker } from 'node:worker_threads';
import { BrokerError } from '#libs/errors';
import type { CheckedJwe } from './compact-jwe.js';
import { openingBy, openJwe } from './open-jwe.js';
import type { OpenedWith } from './open-with-handles.js';
import { sealingBy, sealJwe } from './seal-jwe.js';

/** A task for the thread. Handles are passed as they are: not extractable, and without a copy of the key. */
export type JweTask =
  | { readonly kind: 'open'; readonly jwe: CheckedJwe; readonly handles: readonly webcrypto.CryptoKey[] }
  | { readonly kind: 'seal'; readonly plaintext: Uint8Array; readonly handle: webcrypto.CryptoKey };

/** The thread's answer. A task that fails does not say why. */
export type JweAnswer =
  { readonly opened: OpenedWith | undefined } | { readonly sealed: string } | { readonly failed: true };

/** Opens and seals JWEs, in whichever thread. */
export interface JweWork {
  readonly openJwe: typeof openJwe;
  readonly sealJwe: typeof sealJwe;
  /** For work that hangs: abandons whatever can be abandoned, and lets later work start afresh. */
  readonly startAfresh: () => void;
}

export const inThisThread: JweWork = { openJwe, sealJwe, startAfresh: () => undefined };

interface Waiting {
  readonly resolve: (answer: JweAnswer) => void;
  readonly reject: (error: BrokerError) => void;
}

const ENTRY = new URL('./jwe-thread-entry.js', import.meta.url);
/** Memory for the work in progress, and no more: a runaway thread ends alone. What it makes is garbage at once. */
const MEMORY = { maxOldGenerationSizeMb: 64, maxYoungGenerationSizeMb: 4 };

/**
 * Opens and seals in a separate thread. A JWE takes work before and after its agreement on the thread that asks; on the
 * event loop's thread, every read would wait for that. The thread is started by the first task and, after it has died
 * or was given up because it hung, by the next one.
 */
export class JweThread implements JweWork {
  readonly openJwe = openingBy((jwe, handles) => this.#open(jwe, handles));
  readonly sealJwe = sealingBy((plaintext, handle) => this.#seal(plaintext, handle));
  readonly startAfresh = (): void => {
    const hung = this.#worker;
    this.#worker = undefined;
    this.#failAll(new BrokerError('overloaded', { detail: 'the thread that opens and seals was replaced' }));
    void hung?.terminate();
  };
  readonly #entry: URL;
  readonly #waiting = new Map<number, Waiting>();
  #worker: Worker | undefined;
  #tasks = 0;

  constructor(entry = ENTRY) {
    this.#entry = entry;
  }

  /** Tasks in progress fail. */
  async close(): Promise<void> {
    await this.#worker?.terminate();
  }

  async #open(jwe: CheckedJwe, handles: readonly webcrypto.CryptoKey[]): Promise<OpenedWith | undefined> {
    const answer = await this.#ask({ kind: 'open', jwe, handles });
    if ('opened' in answer) return answer.opened;
    throw gone();
  }

  async #seal(plaintext: Uint8Array, handle: webcrypto.CryptoKey): Promise<string> {
    const answer = await this.#ask({ kind: 'seal', plaintext, handle });
    if ('sealed' in answer) return answer.sealed;
    throw gone();
  }

  #ask(task: JweTask): Promise<JweAnswer> {
    const worker = (this.#worker ??= this.#start());
    const id = (this.#tasks += 1);
    return new Promise((resolve, reject) => {
      this.#waiting.set(id, { resolve, reject });
      worker.postMessage({ id, task });
    });
  }

  #start(): Worker {
    const worker = new Worker(this.#entry, {
      name: 'jwe',
      env: {},
      resourceLimits: MEMORY,
    });
    worker.on('message', ({ id, answer }: { readonly id: number; readonly answer: JweAnswer }) => {
      this.#waiting.get(id)?.resolve(answer);
      this.#waiting.delete(id);
    });
    let cause: unknown;
    worker.on('error', (error: unknown) => {
      cause = error;
    });
    worker.on('exit', () => {
      // A thread that was replaced has nothing in progress any more: all of that belongs to its successor.
      if (this.#worker !== worker) return;
      this.#worker = undefined;
      this.#failAll(gone(cause));
    });
    // It does not keep the process alive.
    worker.unref();
    return worker;
  }

  #failAll(error: BrokerError): void {
    for (const { reject } of this.#waiting.values()) reject(error);
    this.#waiting.clear();
  }
}

function gone(cause?: unknown): BrokerError {
  return new BrokerError('internal_error', { detail: 'the thread that opens and seals has ended', cause });
}
