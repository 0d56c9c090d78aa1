import type { Redis } from 'ioredis';
import { judgeRedisError } from './redis-failure.js';

/** Protected mode: the server takes nobody from another machine. */
const TURNED_AWAY = 'DENIED';

/**
 * A server in protected mode says why it turns a connection down, and the words "no password is set" are among them.
 * The client library takes any such reply to its greeting for advice: it writes a line of its own to the console, of a
 * password that nobody gave, and keeps the reason to itself. Here the reply reaches it as its code alone, which it
 * reports like every other refusal.
 * @returns the same client
 */
export function reportingRefusedGreeting(client: Redis): Redis {
  const greet = client.hello.bind(client) as (...words: readonly unknown[]) => Promise<unknown>;
  const hello = (...words: readonly unknown[]): Promise<unknown> =>
    greet(...words).catch((error: unknown) => {
      if (judgeRedisError(error).reason !== TURNED_AWAY) throw error;
      throw Object.assign(new Error(TURNED_AWAY), { name: 'ReplyError' });
    });
  return Object.assign(client, { hello });
}
