import { type Session, SessionBroker, SessionRejected } from '#libs/client';
import { atPace } from './rounds.js';

export interface PaymentLoop {
  readonly brokerUrl: string;
  readonly token: string;
  readonly sandboxUrl: string;
  readonly operations: number;
  /** Ends it before that. */
  readonly until?: AbortSignal;
  /** From the start of one operation to the start of the next. */
  readonly everyMs: number;
}

export interface PaymentReport {
  readonly failed: readonly string[];
  /** Sessions used. */
  readonly generations: number;
  /** Sessions that an operation found dead and reported. */
  readonly rejections: number;
}

/** Payments at a steady pace, whether or not earlier ones have been answered, each through `withSession`. */
export async function payInLoop(loop: PaymentLoop): Promise<PaymentReport> {
  const generations = new Set<number>();
  const failed: string[] = [];
  let rejections = 0;
  const client = new SessionBroker({
    url: loop.brokerUrl,
    merchant: 'shop',
    auth: loop.token,
    onEvent: ({ type }) => (rejections += type === 'rejection' ? 1 : 0),
  });
  const pay = async (number: number): Promise<void> => {
    try {
      const order = JSON.stringify({ order: number });
      const jwe = await client.withSession((session) => {
        generations.add(session.generation);
        return send({ sandboxUrl: loop.sandboxUrl, client, session }, order);
      });
      const answer = new TextDecoder().decode(await client.decrypt(jwe));
      if (answer !== order) failed.push(`operation ${number}: the answer is not its own`);
    } catch (error) {
      failed.push(`operation ${number}: ${String(error)}`);
    }
  };
  const isWanted = (started: number): boolean => started < loop.operations && loop.until?.aborted !== true;
  await atPace(1_000 / loop.everyMs, pay, isWanted);
  await client.close();
  return { failed, generations: generations.size, rejections };
}

interface Call {
  readonly sandboxUrl: string;
  readonly client: SessionBroker;
  readonly session: Session;
}

async function send({ sandboxUrl, client, session }: Call, order: string): Promise<string> {
  const jwe = await client.encryptFor(session.serverPublic, order);
  const response = await fetch(`${sandboxUrl}/api-gateway/echo`, {
    method: 'POST',
    headers: {
      'content-type': 'text/plain',
      'x-api_version': '1',
      'x-device_id': session.deviceId,
      'x-refresh_token': session.refreshToken ?? '',
    },
    body: jwe,
  });
  const { jwe: answer, msgCode = `http_${response.status}` } = (await response.json()) as {
    jwe?: string;
    msgCode?: string;
  };
  if (response.status === 401 || msgCode === 'b_session_doesnt_exist') throw new SessionRejected(msgCode);
  if (answer === undefined) throw new Error(`the gateway answered ${msgCode}`);
  return answer;
}
