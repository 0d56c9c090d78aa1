import { existsSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { BrokerError } from '#libs/errors';

/**
 * The checkout that a file of this program is in.
 * @throws BrokerError `configuration_invalid` elsewhere, such as in the image
 */
export function checkoutFolder(folder: string): string {
  if (existsSync(join(folder, 'package-lock.json'))) return folder;
  const parent = dirname(folder);
  if (parent === folder) throw new BrokerError('configuration_invalid', { detail: 'this runs in a checkout only' });
  return checkoutFolder(parent);
}
