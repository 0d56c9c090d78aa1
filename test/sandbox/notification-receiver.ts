import type { IncomingHttpHeaders } from 'node:http';
import { LoopbackServer } from '#libs/testing';

export interface ReceivedNotification {
  readonly headers: IncomingHttpHeaders;
  readonly body: string;
}

/**
 * A merchant's server that receives notifications; answers the first ones with the given statuses, later ones with 200.
 */
export class NotificationReceiver {
  readonly received: readonly ReceivedNotification[];
  readonly #server: LoopbackServer;

  private constructor(server: LoopbackServer, received: ReceivedNotification[]) {
    this.#server = server;
    this.received = received;
  }

  static async start(statuses: readonly number[] = []): Promise<NotificationReceiver> {
    const received: ReceivedNotification[] = [];
    const server = await LoopbackServer.http((request, response) => {
      const parts: Buffer[] = [];
      request.on('data', (part: Buffer) => parts.push(part));
      request.on('end', () => {
        received.push({ headers: request.headers, body: Buffer.concat(parts).toString('utf8') });
        response.writeHead(statuses[received.length - 1] ?? 200).end();
      });
    });
    return new NotificationReceiver(server, received);
  }

  get url(): string {
    return `http://127.0.0.1:${this.#server.port}/notifications?secret=s3cret`;
  }

  close(): Promise<void> {
    return this.#server.close();
  }
}
