import { instantFromEpochMs } from '#libs/clock';
import { BrokerError } from '#libs/errors';
import { type ClientKey, openAtRest, sealAtRest } from '#libs/jwe';
import type { Session } from '#libs/session';

/**
 * The client keys of a merchant, newest first: that one seals, and all of them open. Empty for a merchant without
 * configured keys.
 */
export type KeysOf = (merchant: string) => readonly ClientKey[];

/** A later layout uses another number; a replica that does not know it treats the record as absent. */
const LAYOUT = 1;

/**
 * Seals a session for the store, bound to its merchant and generation.
 * @throws BrokerError `internal_error` if the merchant has no key: nobody could have created its session
 */
export async function sealSession(session: Session, keysOf: KeysOf): Promise<string> {
  const { merchant, generation } = session;
  const [newest] = keysOf(merchant);
  if (newest === undefined) {
    throw new BrokerError('internal_error', {
      detail: 'a session can only be stored for a merchant with a client key',
    });
  }
  const plaintext = Buffer.from(JSON.stringify({ layout: LAYOUT, session }), 'utf8');
  return sealAtRest(plaintext, newest, { merchant, generation });
}

/** @returns undefined if no configured key opens the record, or its content has the layout of another version */
export async function openSession(
  sealed: string,
  binding: { readonly merchant: string; readonly generation: number },
  keysOf: KeysOf,
): Promise<Session | undefined> {
  const plaintext = await openAtRest(sealed, keysOf(binding.merchant), binding);
  if (plaintext === undefined) return undefined;
  // It was sealed with the merchant's private key, and so by `sealSession`: the layout determines its shape.
  const record = JSON.parse(Buffer.from(plaintext).toString('utf8')) as { layout: unknown; session: Session };
  return record.layout === LAYOUT ? revived(record.session) : undefined;
}

function revived(session: Session): Session {
  const { createdAt, watchedSince, expiresAt, renewAt, mustRenewAt } = session;
  return {
    ...session,
    createdAt: instantFromEpochMs(createdAt),
    ...(watchedSince === undefined ? {} : { watchedSince: instantFromEpochMs(watchedSince) }),
    expiresAt: instantFromEpochMs(expiresAt),
    renewAt: instantFromEpochMs(renewAt),
    mustRenewAt: instantFromEpochMs(mustRenewAt),
  };
}
