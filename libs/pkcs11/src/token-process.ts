import { type ChildProcess, fork } from 'node:child_process';
import { type Clock, type ScheduledTask, SystemClock } from '#libs/clock';
import { TokenError, type TokenFault } from './token-fault.js';
import type { TokenReference } from './token-reference.js';
import type { KeyFacts } from './token-session.js';

/** A question to the process: an agreement with a point or, without one, what the token says about the key. */
export interface TokenQuestion {
  readonly reference: TokenReference;
  readonly point?: Uint8Array;
}

export type TokenAnswer =
  | { readonly secret: Uint8Array }
  | { readonly facts: KeyFacts }
  | { readonly fault: TokenFault; readonly mark?: string };

interface Waiting {
  readonly resolve: (answer: TokenAnswer) => void;
  readonly reject: (error: TokenError) => void;
  readonly limit: ScheduledTask;
}

interface TokenProcessParts {
  readonly entry?: URL;
  readonly clock?: Clock;
  readonly limitMs?: number;
  /** Modules are configured through environment variables of their own. Default: the environment of this process. */
  readonly environment?: NodeJS.ProcessEnv;
}

const ENTRY = new URL('./token-process-entry.js', import.meta.url);
/** Memory for the work in progress. Nobody may open a debugger on a process that holds the PIN. */
const FLAGS = ['--max-old-space-size=64', '--disable-sigusr1'];
/** An agreement takes a device a few hundredths of a second; it must have ended within the slack of a lease. */
const DEFAULT_LIMIT_MS = 3_000;

/**
 * Talks to tokens in a separate process. PKCS#11 calls block, and a module is third-party C code: one that hangs or
 * crashes must not take the broker down with it, only a process can be abandoned while it hangs, and what a software
 * token reads into its memory stays out of ours. The process is started by the first question and, after it has ended,
 * by the next one.
 */
export class TokenProcess {
  readonly #entry: URL;
  readonly #clock: Clock;
  readonly #limitMs: number;
  readonly #environment: NodeJS.ProcessEnv | undefined;
  readonly #waiting = new Map<number, Waiting>();
  #child: ChildProcess | undefined;
  #questions = 0;

  constructor({
    entry = ENTRY,
    clock = new SystemClock(),
    limitMs = DEFAULT_LIMIT_MS,
    environment,
  }: TokenProcessParts = {}) {
    this.#entry = entry;
    this.#environment = environment;
    this.#clock = clock;
    this.#limitMs = limitMs;
  }

  /**
   * @returns 48 octets, which the caller owns
   * @throws TokenError
   */
  async derive(reference: TokenReference, point: Uint8Array): Promise<Uint8Array> {
    const answer = await this.#ask({ reference, point });
    if ('secret' in answer) return answer.secret;
    throw faultOf(answer);
  }

  /** @throws TokenError */
  async inspect(reference: TokenReference): Promise<KeyFacts> {
    const answer = await this.#ask({ reference });
    if ('facts' in answer) return answer.facts;
    throw faultOf(answer);
  }

  /** Questions in progress fail. */
  close(): void {
    this.#end(new TokenError('process_ended'));
  }

  #ask(question: TokenQuestion): Promise<TokenAnswer> {
    const child = (this.#child ??= this.#start());
    const id = (this.#questions += 1);
    return new Promise((resolve, reject) => {
      const limit = this.#clock.schedule(this.#limitMs, () => this.#end(new TokenError('no_answer')));
      this.#waiting.set(id, { resolve, reject, limit });
      child.channel?.ref();
      // If the process has just ended, its exit event reports that.
      child.send({ id, question }, () => undefined);
    });
  }

  #start(): ChildProcess {
    const child = fork(this.#entry, [], {
      serialization: 'advanced',
      execArgv: FLAGS,
      stdio: ['ignore', 'ignore', 'ignore', 'ipc'],
      ...(this.#environment === undefined ? {} : { env: this.#environment }),
    });
    child.on('message', ({ id, answer }: { readonly id: number; readonly answer: TokenAnswer }) => {
      const waiting = this.#waiting.get(id);
      this.#waiting.delete(id);
      waiting?.limit.cancel();
      waiting?.resolve(answer);
      if (this.#waiting.size === 0 && this.#child === child) child.channel?.unref();
    });
    const ended = (): void => {
      // A process that was given up has nothing in progress any more: all of that belongs to its successor.
      if (this.#child === child) this.#end(new TokenError('process_ended'));
    };
    child.on('error', ended);
    child.on('exit', ended);
    // It does not keep the process alive.
    child.unref();
    child.channel?.unref();
    return child;
  }

  #end(error: TokenError): void {
    const child = this.#child;
    this.#child = undefined;
    // It may be hanging in a call to its module, where no other signal reaches it.
    child?.kill('SIGKILL');
    const failed = [...this.#waiting.values()];
    this.#waiting.clear();
    for (const { limit, reject } of failed) {
      limit.cancel();
      reject(error);
    }
  }
}

function faultOf(answer: TokenAnswer): TokenError {
  return 'fault' in answer ? new TokenError(answer.fault, answer.mark) : new TokenError('process_ended');
}
