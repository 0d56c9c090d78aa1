import type { BrokerConfiguration, MerchantConfiguration } from '#libs/configuration';
import { BrokerError } from '#libs/errors';
import { chosenMerchant, demandConsent } from '../chosen-merchant.js';

/** What `doctor` does only on request, because each of these sends more than a harmless query. */
export interface ProbeWishes {
  readonly merchant?: string;
  readonly createSession?: true;
  readonly crossCheck?: true;
  readonly discover?: true;
  readonly yes?: true;
}

export const wantsProbes = ({ createSession, crossCheck, discover }: ProbeWishes): boolean =>
  createSession === true || crossCheck === true || discover === true;

/**
 * The one merchant that the probes are for, once it is certain that they are allowed. Refuses before anything is sent.
 * @throws BrokerError `merchant_not_found` or `invalid_request`
 */
export function permitProbes(wishes: ProbeWishes, { merchants }: BrokerConfiguration): MerchantConfiguration {
  const merchant = theOne(wishes, merchants);
  if (wishes.createSession === true) demandConsent(merchant, wishes.yes === true);
  if (wishes.discover === true) demandTest(merchant, { merchants, flag: '--discover' });
  if (wishes.crossCheck === true) {
    demandTest(merchant, { merchants, flag: '--cross-check' });
    if (merchant.gateway.testBaseUrl === undefined) {
      throw refusal(`--cross-check needs gateway.testBaseUrl of ${merchant.id}`);
    }
  }
  return merchant;
}

function theOne({ merchant }: ProbeWishes, merchants: readonly MerchantConfiguration[]): MerchantConfiguration {
  if (merchant !== undefined) return chosenMerchant(merchants, merchant);
  const [only, another] = merchants;
  if (only !== undefined && another === undefined) return only;
  throw refusal('several merchants are configured: name the one that create calls are for with --merchant');
}

interface Demand {
  readonly merchants: readonly MerchantConfiguration[];
  readonly flag: string;
}

/** The key counts as well as the setting: a production key in a test section is still a production key. */
function demandTest(merchant: MerchantConfiguration, { merchants, flag }: Demand): void {
  const own = new Set(merchant.clientKeys.map(({ thumbprint }) => thumbprint));
  const isProduction = merchants.some(
    (other) =>
      other.gateway.environment === 'production' && other.clientKeys.some(({ thumbprint }) => own.has(thumbprint)),
  );
  if (merchant.gateway.environment !== 'test' || isProduction) {
    throw refusal(`${flag} is for the test environment, and ${merchant.id} or its key is in production`);
  }
}

const refusal = (detail: string): BrokerError => new BrokerError('invalid_request', { detail });
