import { someOf } from '#libs/errors';
import { ConfigurationError } from './fault.js';

/** In one sentence; the audit has the total number. */
const MAX_NAMED = 5;

/** What a changed configuration removes. */
interface Removal {
  /** Where the list is in the file. */
  readonly path: string;
  readonly names: readonly string[];
  readonly maxRemoved: number;
}

/** A changed configuration whose file may be truncated. */
export class TooManyRemoved extends ConfigurationError {
  /** How many items it would remove. */
  readonly removed: number;

  constructor({ path, names, maxRemoved }: Removal) {
    const problem =
      `lacks ${names.length} of those in force, more than reload.maxRemoved allows (${maxRemoved}): ${someOf(names, MAX_NAMED)}; is the file complete? ` +
      'If it is, remove fewer at a time, or raise reload.maxRemoved first';
    super([{ path, problem }]);
    this.removed = names.length;
  }
}

/**
 * A file that ends too early has no faults if it is cut off between two items of its last list.
 * @throws TooManyRemoved
 */
export function assertFewRemoved(removal: Removal): void {
  if (removal.names.length > removal.maxRemoved) throw new TooManyRemoved(removal);
}
