import { type Session, SessionBroker, SessionRejected } from '#libs/client';

interface PaymentLoop {
  readonly brokerUrl: string;
  readonly token: string;
  readonly sandboxUrl: string;
  readonly until: AbortSignal;
}

/** At the same time: more would only wait for each other. */
const LANES = 3;

/**
 * Payments through `withSession`, the next one when one has been answered: a slow machine makes fewer.
 * @returns those that failed, and why
 */
export async function payInLoop({ brokerUrl, sandboxUrl, token, until }: PaymentLoop): Promise<string[]> {
  const failed: string[] = [];
  let started = 0;
  const client = new SessionBroker({ url: brokerUrl, merchant: 'shop', auth: token });
  const pay = async (): Promise<void> => {
    const number = (started += 1);
    try {
      const order = JSON.stringify({ order: number });
      const jwe = await client.withSession((session) => send({ sandboxUrl, client, session }, order));
      const answer = new TextDecoder().decode(await client.decrypt(jwe));
      if (answer !== order) failed.push(`payment ${number}: the answer is not its own`);
    } catch (error) {
      failed.push(`payment ${number}: ${String(error)}`);
    }
  };
  const lane = async (): Promise<void> => {
    while (!until.aborted) await pay();
  };
  await Promise.all(Array.from({ length: LANES }, lane));
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
