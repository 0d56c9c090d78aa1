import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { SourceMap, type SourceMapPayload } from 'node:module';
import { fileURLToPath } from 'node:url';

interface CallFrame {
  readonly functionName: string;
  readonly url: string;
  readonly lineNumber: number;
  readonly columnNumber: number;
}

interface CpuProfile {
  readonly nodes: readonly { readonly id: number; readonly callFrame: CallFrame }[];
  readonly samples: readonly number[];
  /** Microseconds before each sample. */
  readonly timeDeltas: readonly number[];
}

/** How often the profiler samples: more often would cost the program the very time that is measured. */
const SAMPLE_EVERY_US = 500;

/** The inspector of a program that was started with {@link inspectedAt}. */
export class Inspector {
  readonly #socket: WebSocket;
  #nextId = 1;

  private constructor(socket: WebSocket) {
    this.#socket = socket;
  }

  static async of(port: number): Promise<Inspector> {
    const answer = await fetch(`http://127.0.0.1:${port}/json/list`);
    const [target] = (await answer.json()) as readonly { readonly webSocketDebuggerUrl: string }[];
    if (target === undefined) throw new Error('the inspector has no program');
    const socket = new WebSocket(target.webSocketDebuggerUrl);
    await once(socket, 'open');
    return new Inspector(socket);
  }

  /** @returns microseconds of self time, by the part of the program that used them, without idle time */
  async profileWhile(work: () => PromiseLike<unknown>): Promise<ReadonlyMap<string, number>> {
    await this.#ask('Profiler.enable');
    await this.#ask('Profiler.setSamplingInterval', { interval: SAMPLE_EVERY_US });
    await this.#ask('Profiler.start');
    await work();
    const { profile } = (await this.#ask('Profiler.stop')) as { profile: CpuProfile };
    return timesByPart(profile);
  }

  close(): void {
    this.#socket.close();
  }

  async #ask(method: string, params: object = {}): Promise<unknown> {
    const id = this.#nextId;
    this.#nextId += 1;
    this.#socket.send(JSON.stringify({ id, method, params }));
    for (;;) {
      const [message] = (await once(this.#socket, 'message')) as [MessageEvent];
      const answer = JSON.parse(String(message.data)) as { id?: number; result?: unknown; error?: { message: string } };
      if (answer.error !== undefined) throw new Error(`${method}: ${answer.error.message}`);
      if (answer.id === id) return answer.result;
    }
  }
}

/** For the program's NODE_OPTIONS: its address is asked for at the port, not read from the program's output. */
export const inspectedAt = (port: number): string => `--inspect=127.0.0.1:${port} --inspect-publish-uid=http`;

function timesByPart({ nodes, samples, timeDeltas }: CpuProfile): ReadonlyMap<string, number> {
  const parts = new PartsOfProgram();
  const partOf = new Map(nodes.map(({ id, callFrame }) => [id, parts.of(callFrame)]));
  const times = new Map<string, number>();
  for (const [index, sample] of samples.entries()) {
    const part = partOf.get(sample);
    if (part === undefined) continue;
    times.set(part, (times.get(part) ?? 0) + (timeDeltas[index] ?? 0));
  }
  return times;
}

/** Names the part that a function belongs to; in a bundle, by its source map. */
class PartsOfProgram {
  readonly #maps = new Map<string, SourceMap>();

  of({ url, functionName, lineNumber, columnNumber }: CallFrame): string | undefined {
    if (functionName === '(idle)') return undefined;
    if (functionName === '(garbage collector)') return 'garbage collection';
    if (url === '') return 'event loop, sockets, HTTP parser and other native code';
    if (url.startsWith('node:')) return 'JavaScript of node:http, its streams and timers';
    const entry = this.#mapOf(url)?.findEntry(lineNumber, columnNumber);
    const source = entry !== undefined && 'originalSource' in entry ? entry.originalSource : url;
    const [, own] = /\/((?:apps|libs)\/[a-z-]+)\//u.exec(source) ?? [];
    const [, named] = /node_modules\/((?:@[^/]+\/)?[^/]+)\//u.exec(source) ?? [];
    return named ?? own ?? 'the server itself';
  }

  #mapOf(url: string): SourceMap | undefined {
    const known = this.#maps.get(url);
    if (known !== undefined || !url.includes('/programs/')) return known;
    const map = new SourceMap(JSON.parse(readFileSync(`${fileURLToPath(url)}.map`, 'utf8')) as SourceMapPayload);
    this.#maps.set(url, map);
    return map;
  }
}
