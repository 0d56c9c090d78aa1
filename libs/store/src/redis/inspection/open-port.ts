import { connect } from 'node:net';
import type { RedisAddress } from '../redis-connection.js';

/** Whether something takes connections there, whatever it speaks. */
export function isOpenPort({ host, port }: RedisAddress, limitMs: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect({ host, port, timeout: limitMs });
    const end = (isOpen: boolean) => (): void => {
      socket.destroy();
      resolve(isOpen);
    };
    socket.once('connect', end(true)).once('timeout', end(false)).once('error', end(false));
  });
}
