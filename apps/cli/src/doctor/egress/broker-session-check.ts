import { meantOr } from '../../chosen-merchant.js';
import { type Check, fact, fault, type Finding, looked } from '../check.js';
import { asBrokerFault, BROKER_LIMIT_MS, type BrokerVisit, unwished } from './broker-visit.js';

interface Merchant {
  readonly merchant: string;
  /** Whether any route is sealed, so that answers must be opened. */
  readonly opens: boolean;
}

/** Whether the broker gives out a session of the merchant, and lets the egress do with it what a payment may need. */
export function brokerSessionCheck(visit: BrokerVisit, { merchant, opens }: Merchant): Check {
  return {
    name: 'broker.session',
    subject: merchant,
    needs: ['broker.access'],
    limitMs: 3 * BROKER_LIMIT_MS,
    run: (signal) =>
      asBrokerFault({ visit, signal }, async () => {
        const session = await visit.ask({ path: `/v1/merchants/${merchant}/session`, signal });
        if (session.status === 403) return looked([await unreadable(visit, merchant, signal)]);
        const { generation, expiresAt } = session.body;
        const facts = { generation, expiresAt };
        const found =
          session.status === 200
            ? fact(`generation ${String(generation)} is served, until ${String(expiresAt)}`)
            : unwished(session, 'there is no session to pay with');
        return looked([found, ...(await missingRights(visit, { merchant, opens }, signal))], facts);
      }),
  };
}

/**
 * A broker answers alike for a merchant that it does not have and for one that is not the caller's: its list shows
 * which one may be meant.
 */
async function unreadable(visit: BrokerVisit, merchant: string, signal: AbortSignal): Promise<Finding> {
  const { body } = await visit.ask({ path: '/v1/merchants', signal });
  const listed: readonly unknown[] = Array.isArray(body['merchants']) ? body['merchants'] : [];
  const ids = listed.flatMap((one) =>
    typeof one === 'object' && one !== null && 'id' in one && typeof one.id === 'string' ? [one.id] : [],
  );
  const others = ids.length === 0 ? 'it may read none at all' : meantOr('it may read', merchant, ids);
  return fault(
    'refused',
    `the egress may not session:read for ${merchant}, or there is no such merchant; ${others}`,
    "correct merchant of the client, or allow it in the broker's auth.policies",
  );
}

/**
 * The rights other than reading, tested with empty requests: the broker checks rights before it reads a body, so
 * nothing is reported or opened.
 */
async function missingRights(
  visit: BrokerVisit,
  { merchant, opens }: Merchant,
  signal: AbortSignal,
): Promise<readonly Finding[]> {
  const rights = [
    ['session:reject', 'session/rejections'],
    ...(opens ? ([['payload:decrypt', 'payloads/decrypt']] as const) : []),
  ] as const;
  const findings: Finding[] = [];
  for (const [right, path] of rights) {
    const { status } = await visit.ask({ path: `/v1/merchants/${merchant}/${path}`, signal, body: {} });
    if (status === 403) findings.push(missing(right, merchant));
  }
  return findings;
}

const missing = (right: string, merchant: string): Finding =>
  fault('refused', `the egress may not ${right} for ${merchant}`, `allow it in the broker's auth.policies`);
