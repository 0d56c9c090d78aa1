import type { Redis } from 'ioredis';
import { judgeRedisError } from './redis-failure.js';

/** Protected mode: the server takes nobody from another machine. */
const TURNED_AWAY = 'DENIED';

/** Whoever is not known is told so in reply to the greeting: what follows from it says less. */
const NOT_KNOWN: ReadonlySet<string> = new Set(['NOAUTH', 'WRONGPASS', TURNED_AWAY]);

/**
 * What a server refuses of the first commands on a connection, reported like every other refusal: its greeting in
 * protected mode, and the choice of a database.
 * @returns the same client
 */
export function reportingRefusedGreeting(client: Redis): Redis {
  return Object.assign(client, { hello: greetingOf(client), select: choiceOf(client) });
}

/**
 * A server in protected mode says why it turns a connection down, and the words "no password is set" are among them.
 * The client library takes any such reply to its greeting for advice: it writes a line of its own to the console, of a
 * password that nobody gave, and keeps the reason to itself. Here the reply reaches it as its code alone.
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
 * When its choice of a database is refused, the client library reports that, and goes on in database 0, which may be
 * somebody else's. Here such a connection ends before anything else is sent on it, and is tried anew like any other.
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
