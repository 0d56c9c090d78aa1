import { Redis } from 'ioredis';
import type { ServerOptions } from '../connection-profile.js';
import type { RedisAddress } from '../redis-connection.js';

/** Whether something takes connections there, whatever it speaks. Nobody is told who asks. */
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
  // Disconnecting what is closed would leave a timer of the library running.
  if (client.status !== 'end') client.disconnect();
  return isOpen;
}
