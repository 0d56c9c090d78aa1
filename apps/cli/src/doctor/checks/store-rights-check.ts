import type { MissingRight } from '#libs/store';
import { type Check, fact, fault, looked } from '../check.js';
import type { StoreVisit } from '../store-visit.js';

/**
 * Whether the broker's user may do everything that the broker does, on the broker's own keys. It runs last of the store
 * checks.
 */
export function storeRightsCheck(visit: StoreVisit, merchants: readonly string[]): Check {
  return {
    name: 'store.rights',
    needs: ['store.connection'],
    limitMs: 15_000,
    run: async () => {
      const { asked, missing, unwritable } = await (await visit.inspection()).rights(merchants);
      const named = missingNames(missing, visit.keyPrefix);
      const count = named.reduce((sum, { commands }) => sum + commands.size, 0);
      const remedy = `run on the server: ${visit.grantingLine}`;
      return looked(
        [
          fact(`${asked} rights asked for, ${count} missing`),
          ...named.map(({ say, commands }) => fault('refused', say([...commands].join(', ')), remedy)),
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

interface MissingNames {
  readonly say: (commands: string) => string;
  readonly commands: Set<string>;
}

/** One entry per kind and server, because one line fixes them together; the facts list the rights key by key. */
function missingNames(missing: readonly MissingRight[], keyPrefix: string): readonly MissingNames[] {
  const where = { command: '', key: ` on keys ${keyPrefix}:*`, channel: ` on channels ${keyPrefix}:*` };
  const kinds = new Map<string, MissingNames>();
  for (const { server, command, lacks } of missing) {
    const kind = `${server} ${lacks}`;
    const say = (commands: string): string => `${server}: the store's user may not run ${commands}${where[lacks]}`;
    const named = kinds.get(kind) ?? { say, commands: new Set() };
    kinds.set(kind, named);
    named.commands.add(command);
  }
  return [...kinds.values()];
}
