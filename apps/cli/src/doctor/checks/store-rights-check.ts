import type { MissingRight } from '#libs/store';
import { type Check, fact, fault, type Finding, looked } from '../check.js';
import type { StoreVisit } from '../store-visit.js';

/**
 * Whether the broker's user may do, on the broker's own keys, everything that the broker does. It comes last of its
 * kind.
 */
export function storeRightsCheck(visit: StoreVisit, merchants: readonly string[]): Check {
  return {
    name: 'store.rights',
    needs: ['store.connection'],
    limitMs: 15_000,
    run: async () => {
      const { asked, missing, unwritable } = await (await visit.inspection()).rights(merchants);
      return looked(
        [
          fact(`${asked} rights asked for, ${missing.length} missing`),
          ...missing.map(missingFinding),
          ...unwritable.map(({ server, code }) =>
            fault(
              'tryLater',
              `${server} takes no writes (${code})`,
              'see docs/redis.md: for the broker, such a store refuses',
            ),
          ),
        ],
        { missing },
      );
    },
  };
}

function missingFinding({ server, command, lacks, target }: MissingRight): Finding {
  const message = `${server}: the store's user may not run ${command}${target === undefined ? '' : ` on ${target}`}`;
  const grants = {
    command: `grant +${command.toLowerCase()}`,
    key: 'grant ~<store.keyPrefix>:*',
    channel: 'grant &<store.keyPrefix>:*',
  };
  return fault('refused', message, `${grants[lacks]}; the whole list is in docs/redis.md`);
}
