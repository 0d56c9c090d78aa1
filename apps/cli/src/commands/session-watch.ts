import type { IncomingMessage } from 'node:http';
import { ProtocolError, readEndMs, readSession, type Session, SseParser } from '#libs/client';
import { toRfc3339 } from '#libs/clock';
import { BrokerError } from '#libs/errors';
import { thumbprintOf } from '#libs/jwe';
import { parsedMembers } from '../broker/answer.js';
import { type AskFault, type BrokerFault, faultLines, isFault } from '../broker/broker-fault.js';
import { type BrokerOptions, type BrokerPlace, brokerPlace } from '../broker/broker-place.js';
import { spanText } from '../broker/listing.js';
import { openStream } from '../broker/replica-call.js';
import { exitCodeOf, exitCodes } from '../exit-codes.js';
import { pause } from '../pause.js';
import { systemCodeOf } from '../system-error.js';
import type { CommandContext } from '../terminal.js';

interface WatchOptions extends BrokerOptions {
  readonly merchant: string;
  readonly json?: true;
}

/** The broker sends a comment every 15 s: when two and a half of them have been missed, the other end is gone. */
const SILENT_MS = 40_000;
/** A session takes about 600 characters. */
const MAX_EVENT_LENGTH = 65_536;
const MIN_PAUSE_MS = 1_000;
const MAX_PAUSE_MS = 30_000;

/**
 * Prints a line for each session of a merchant as its stream brings it, and never anything secret. It connects again,
 * to the next replica if there are several, until it is asked to end, or one gives a reason that no later call can
 * change, such as a refusal or an untrusted certificate.
 * @returns the exit code: 0 if it was ended on request
 */
export async function sessionWatch(options: WatchOptions, context: CommandContext): Promise<number> {
  try {
    const broker = await brokerPlace(options, context);
    return await new Watch(broker, options, context).untilEnded();
  } catch (error) {
    if (!(error instanceof BrokerError)) throw error;
    const { code, message } = error;
    return ended({ error: { code, message }, exitCode: exitCodeOf(error) }, options, context);
  }
}

/** Reports why the watch is over. */
function ended(
  { error, exitCode }: { readonly error: AskFault; readonly exitCode: number },
  { merchant, json }: WatchOptions,
  { clock, terminal }: CommandContext,
): number {
  if (json === true) terminal.out(JSON.stringify({ event: 'ended', at: toRfc3339(clock.now()), merchant, error }));
  else terminal.err(`error: ${faultLines(error).join('\n')}`);
  return exitCode;
}

class Watch {
  readonly #broker: BrokerPlace;
  readonly #options: WatchOptions;
  readonly #context: CommandContext;
  #newest = 0;
  /** What was said last of an interruption: the same is not said again. */
  #told = '';
  #pauseMs = MIN_PAUSE_MS;

  constructor(broker: BrokerPlace, options: WatchOptions, context: CommandContext) {
    this.#broker = broker;
    this.#options = options;
    this.#context = context;
  }

  /** @returns the exit code */
  async untilEnded(): Promise<number> {
    const { clock, signal } = this.#context;
    const { urls } = this.#broker;
    for (let turn = 0; !signal.aborted; turn += 1) {
      const final = await this.#follow(urls[turn % urls.length] ?? urls[0]);
      if (final !== undefined)
        return ended({ error: final.error, exitCode: exitCodes[final.fault] }, this.#options, this.#context);
      await pause(clock, this.#pauseMs, signal);
      this.#pauseMs = Math.min(MAX_PAUSE_MS, this.#pauseMs * 2);
    }
    return exitCodes.ok;
  }

  /** @returns why it is over; undefined for what a later call may change */
  async #follow(url: URL): Promise<BrokerFault | undefined> {
    const { clock, signal } = this.#context;
    const path = `/v1/merchants/${encodeURIComponent(this.#options.merchant)}/session/events`;
    const known: Record<string, string> = this.#newest > 0 ? { 'last-event-id': String(this.#newest) } : {};
    const headers = { accept: 'text/event-stream', ...known };
    const stream = await openStream(this.#broker, { url }, { method: 'GET', path, headers, clock, signal });
    if (signal.aborted) return undefined;
    if (isFault(stream)) {
      const { fault, error } = stream;
      if (fault !== 'tryLater' && fault !== 'invalidAnswer') return stream;
      this.#interrupted(url, faultLines(error));
      return undefined;
    }
    this.#told = '';
    this.#say(`following ${url.origin}`);
    const why = await this.#read(stream);
    if (!signal.aborted) this.#interrupted(url, [why]);
    return undefined;
  }

  #interrupted(url: URL, [why = '', ...more]: readonly string[]): void {
    const text = [`interrupted: ${url.origin}: ${why}; trying again`, ...more].join('\n');
    if (this.#told !== text) this.#say(text);
    this.#told = text;
  }

  /** About the watch itself, for people. */
  #say(text: string): void {
    const { clock, terminal } = this.#context;
    terminal.err(`${toRfc3339(clock.now())}  ${text}`);
  }

  /** @returns why there is nothing more to read */
  async #read(stream: IncomingMessage): Promise<string> {
    const { clock, signal } = this.#context;
    const parser = new SseParser({ maxCharacters: MAX_EVENT_LENGTH });
    let isSilent = false;
    const silence = (): void => {
      isSilent = true;
      stream.destroy();
    };
    let task = clock.schedule(SILENT_MS, silence);
    const end = (): void => void stream.destroy();
    signal.addEventListener('abort', end, { once: true });
    try {
      for await (const octets of stream as AsyncIterable<Buffer>) {
        task.cancel();
        task = clock.schedule(SILENT_MS, silence);
        for (const { type, data } of parser.push(octets)) if (type === 'session') this.#print(data);
      }
      return 'the stream ended';
    } catch (error) {
      if (error instanceof ProtocolError) return error.message;
      const code = systemCodeOf(error);
      if (code === 'unknown') throw error;
      return isSilent ? `nothing came for ${spanText(SILENT_MS)}` : `the stream broke off (${code})`;
    } finally {
      task.cancel();
      signal.removeEventListener('abort', end);
    }
  }

  /** @throws ProtocolError which never quotes the text: it may hold a session */
  #print(data: string): void {
    const { merchant, json } = this.#options;
    const { clock, terminal } = this.#context;
    const members = parsedMembers(data);
    const session = readSession(members, merchant);
    this.#pauseMs = MIN_PAUSE_MS;
    if (session.generation <= this.#newest) return;
    this.#newest = session.generation;
    const at = toRfc3339(clock.now());
    const { generation, expiresAt, clientKeyThumbprint } = session;
    const left = spanText(readEndMs(members, 0));
    terminal.out(
      json === true
        ? JSON.stringify({ event: 'session', at, ...shownOf(session) })
        : `${at}  ${merchant}  generation ${generation}  expires ${expiresAt} (in ${left})  client key ${clientKeyThumbprint}`,
    );
  }
}

/** What may be shown of a session: no token, and no device id. */
function shownOf({ merchant, generation, createdAt, expiresAt, renewAt, ...keys }: Session): object {
  const { clientKeyThumbprint, serverPublic } = keys;
  const serverKeyThumbprint = thumbprintOf(serverPublic);
  return { merchant, generation, createdAt, expiresAt, renewAt, clientKeyThumbprint, serverKeyThumbprint };
}
