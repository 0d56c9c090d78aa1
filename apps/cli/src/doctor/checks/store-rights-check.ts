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
          ...missingFindings(missing, visit),
          ...unwritable.map(({ server, code }) =>
            fault('tryLater', `${server} takes no writes (${code})`, remedyOf(code)),
          ),
        ],
        { missing },
      );
    },
  };
}

const SEE_PAGE = 'see docs/redis.md: for the broker, such a store refuses';

const remedyOf = (code: string): string => (code === 'OOM' ? `raise maxmemory, or free memory; ${SEE_PAGE}` : SEE_PAGE);

/** One for each kind on each server, with what mends all of them at once; the rights one by one are among the facts. */
function missingFindings(
  missing: readonly MissingRight[],
  { keyPrefix, grantingLine }: Pick<StoreVisit, 'keyPrefix' | 'grantingLine'>,
): readonly Finding[] {
  const where = { command: '', key: ` on keys ${keyPrefix}:*`, channel: ` on channels ${keyPrefix}:*` };
  const kinds = new Map<string, Set<string>>();
  for (const { server, command, lacks } of missing) {
    const kind = `${server}: the store's user may not run %${where[lacks]}`;
    kinds.set(kind, (kinds.get(kind) ?? new Set()).add(command));
  }
  const remedy = `run on the server: ${grantingLine}`;
  return [...kinds].map(([kind, commands]) => fault('refused', kind.replace('%', [...commands].join(', ')), remedy));
}
