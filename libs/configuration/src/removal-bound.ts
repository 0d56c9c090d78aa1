import { someOf } from '#libs/errors';
import { ConfigurationError } from './fault.js';

/** In one sentence; the audit has their number. */
const MAX_NAMED = 5;

/** What a changed configuration takes away. */
interface Removal {
  /** Where the list stands in the file. */
  readonly path: string;
  readonly names: readonly string[];
  readonly maxRemoved: number;
}

/** A changed configuration that may have been cut off. */
export class TooManyRemoved extends ConfigurationError {
  /** How many it would take away. */
  readonly removed: number;

  constructor({ path, names, maxRemoved }: Removal) {
    const problem =
      `lacks ${names.length} of those in force, more than reload.maxRemoved allows (${maxRemoved}): ${someOf(names, MAX_NAMED)}; is the file whole? ` +
      'If it is, remove fewer at a time, or raise that first';
    super([{ path, problem }]);
    this.removed = names.length;
  }
}

/**
 * A file that ends too early is a configuration without a fault when it ends between two items of its last list.
 * @throws TooManyRemoved
 */
export function assertFewRemoved(removal: Removal): void {
  if (removal.names.length > removal.maxRemoved) throw new TooManyRemoved(removal);
}
