import { type Session, SessionBroker, SessionRejected } from '#libs/client';
import { atPace } from '../bench/rounds.js';

interface PaymentLoop {
  readonly brokerUrl: string;
  readonly token: string;
  readonly sandboxUrl: string;
  readonly perSecond: number;
  readonly until: AbortSignal;
}

/**
 * Payments at a steady pace, whether or not earlier ones have been answered, each through `withSession`.
 * @returns those that failed, and why
 */
export async function payInLoop({ brokerUrl, sandboxUrl, token, perSecond, until }: PaymentLoop): Promise<string[]> {
  const failed: string[] = [];
  const client = new SessionBroker({ url: brokerUrl, merchant: 'shop', auth: token });
  const pay = async (number: number): Promise<void> => {
    try {
      const order = JSON.stringify({ order: number });
      const jwe = await client.withSession((session) => send({ sandboxUrl, client, session }, order));
      const answer = new TextDecoder().decode(await client.decrypt(jwe));
      if (answer !== order) failed.push(`payment ${number}: the answer is not its own`);
    } catch (error) {
      failed.push(`payment ${number}: ${String(error)}`);
    }
  };
  await atPace(perSecond, pay, () => !until.aborted);
  await client.close();
  return failed;
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
