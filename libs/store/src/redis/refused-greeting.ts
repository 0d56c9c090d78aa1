import type { Redis } from 'ioredis';
import { judgeRedisError } from './redis-failure.js';

/** Protected mode: the server accepts no clients from another machine. */
const TURNED_AWAY = 'DENIED';

/** Unknown clients already get these in reply to the greeting: what follows from it says less. */
const NOT_KNOWN: ReadonlySet<string> = new Set(['NOAUTH', 'WRONGPASS', TURNED_AWAY]);

/**
 * Makes refusals of the first commands on a connection reported like every other refusal: of the greeting, in protected
 * mode, and of the choice of a database.
 * @returns the same client
 */
export function reportingRefusedGreeting(client: Redis): Redis {
  return Object.assign(client, { hello: greetingOf(client), select: choiceOf(client) });
}

/**
 * A server in protected mode says why it refuses a connection, in words that include "no password is set". The client
 * library mistakes any such reply to its greeting for advice: it writes its own line to the console, about a password
 * that nobody gave, and keeps the reason to itself. Here, only the code of the reply reaches it.
 */
function greetingOf(client: Redis): (...words: readonly unknown[]) => Promise<unknown> {
  const greet = client.hello.bind(client) as (...words: readonly unknown[]) => Promise<unknown>;
  return (...words) =>
    greet(...words).catch((error: unknown) => {
      if (judgeRedisError(error).reason !== TURNED_AWAY) throw error;
      throw Object.assign(new Error(TURNED_AWAY), { name: 'ReplyError' });
    });
}

/**
 * If its choice of a database is refused, the client library reports that and continues in database 0, which may belong
 * to somebody else. Here such a connection ends before anything else is sent on it, and is retried like any other.
 */
function choiceOf(client: Redis): (database: number | string) => Promise<'OK'> {
  const select: (database: number | string) => Promise<'OK'> = client.select.bind(client);
  return (database) =>
    select(database).catch(async (error: unknown) => {
      const { kind, reason } = judgeRedisError(error);
      if (kind === 'silent' || NOT_KNOWN.has(reason)) throw error;
      client.emit('error', error);
      const closed = new Promise((resolve) => client.once('close', resolve));
      client.disconnect(true);
      await closed;
      throw error;
    });
}
