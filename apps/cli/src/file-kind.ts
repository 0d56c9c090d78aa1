import { configurationKindOf, type Environment } from '#libs/configuration';
import { BrokerError } from '#libs/errors';

interface Wanted {
  readonly kind: 'broker' | 'egress';
  /** What to do with a file of the other kind, worded to follow its name. */
  readonly otherwise: string;
}

/**
 * Refuses a file of the other kind, in which every setting would be reported as a fault.
 * @throws BrokerError `invalid_request`
 */
export async function demandKind(file: string, environment: Environment, { kind, otherwise }: Wanted): Promise<void> {
  const found = await configurationKindOf(file, environment);
  if (found === undefined || found === kind) return;
  const whose = found === 'egress' ? 'an egress' : 'a broker';
  throw new BrokerError('invalid_request', { detail: `${file} is the file of ${whose}${otherwise}` });
}
