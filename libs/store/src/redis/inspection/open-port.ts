import { Redis } from 'ioredis';
import type { ServerOptions } from '../connection-profile.js';
import type { RedisAddress } from '../redis-connection.js';

/** Whether something accepts connections there, whatever protocol it speaks. Does not reveal who is asking. */
export async function isOpenPort(address: RedisAddress, { connectTimeout = 0 }: ServerOptions): Promise<boolean> {
  const client = new Redis({
    ...address,
    connectTimeout,
    lazyConnect: true,
    enableReadyCheck: false,
    disableClientInfo: true,
    retryStrategy: () => null,
  });
  let isOpen = false;
  client.on('error', () => undefined);
  await new Promise<void>((resolve) => {
    client.once('connect', () => {
      isOpen = true;
      resolve();
    });
    client.connect().then(resolve, () => resolve());
  });
  // Disconnecting a closed client would leave a timer of the library running.
  if (client.status !== 'end') client.disconnect();
  return isOpen;
}
