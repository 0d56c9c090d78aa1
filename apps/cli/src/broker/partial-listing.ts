import { askFaultCodes } from './exchange-cause.js';
import type { ListedMerchant } from './listed-merchant.js';

const RUNBOOK = 'config-reload-failed';

/** What one replica lists, or why it has no list. */
interface Look {
  readonly place: string;
  readonly replica?: string;
  readonly merchants: readonly Pick<ListedMerchant, 'id'>[];
  readonly error?: { readonly code: string };
}

/** A merchant that some replicas list and others do not, because their configurations differ. */
export interface PartialListing {
  readonly merchant: string;
  readonly on: readonly string[];
  readonly notOn: readonly string[];
  readonly runbook: typeof RUNBOOK;
}

export function partialListingsOf(looks: readonly Look[]): readonly PartialListing[] {
  const lists = looks.filter(hasList).map(({ place, replica = place, merchants }) => ({
    replica,
    ids: new Set(merchants.map(({ id }) => id)),
  }));
  const all = new Set(lists.flatMap(({ ids }) => [...ids]));
  return [...all].flatMap((merchant) => {
    const on = lists.filter(({ ids }) => ids.has(merchant)).map(({ replica }) => replica);
    const notOn = lists.filter(({ ids }) => !ids.has(merchant)).map(({ replica }) => replica);
    return notOn.length === 0 ? [] : [{ merchant, on, notOn, runbook: RUNBOOK }];
  });
}

/** Those of `before` that still hold: a reload reaches one replica after another. */
export function lastingPartsOf(before: readonly PartialListing[], looks: readonly Look[]): readonly PartialListing[] {
  return partialListingsOf(looks).filter(({ merchant }) => before.some((one) => one.merchant === merchant));
}

export function partialListingText({ merchant, on, notOn, runbook }: PartialListing): string {
  const why =
    notOn.length === 1
      ? 'a reload has not reached it, or its file differs'
      : 'a reload has not reached them, or their files differ';
  return `${merchant} is on ${on.join(', ')}, not on ${notOn.join(', ')}: ${why} (runbook: ${runbook})`;
}

/** A caller who may read no merchant there also gets a list: an empty one. */
const hasList = ({ error }: Look): boolean => error === undefined || error.code === askFaultCodes.noMerchant;
