import { struckAsFarAsItCounts } from './invariants.js';
import type { Merchant } from './store-rules.js';
import { ownerOf, type Replica, type World } from './world.js';

/**
 * A number for each world, the same for worlds that nothing can tell apart: replicas are alike, so their order does not
 * matter; a process that is gone may have had any name; a watched moment counts while the store has it; and of faults
 * that are over, what they excuse counts.
 *
 * 53 bits: with ten million worlds, the chance that two share a number is one in two hundred.
 */
export function keyOf(world: World): number {
  const { store, lagging, extraCalls } = world;
  const replicas = world.replicas.map((replica, at) => replicaKey(world, replica, at)).sort((a, b) => a - b);
  return mixed([
    textKey(
      `${world.time} ${world.clockOffset} ${world.grants} ${world.storeState} ${world.isGatewayDown} ${world.live} ` +
        `${world.faultsLeft} ${Object.values(extraCalls).join()} ${world.seats.join()}`,
    ),
    keyOfPart(world.faults, () => struckAsFarAsItCounts(world.faults)),
    merchantKey(store),
    lagging === undefined ? 0 : merchantKey(lagging),
    ...world.calls.map((call) => keyOfPart(call, () => JSON.stringify(call))),
    ...replicas,
  ]);
}

/** The replica's key says whose lease it is. */
const merchantKey = (merchant: Merchant): number =>
  keyOfPart(merchant, () => JSON.stringify(merchant, (name, value: unknown) => (name === 'owner' ? '' : value)));

function replicaKey(world: World, replica: Replica, at: number): number {
  const { watched } = replica;
  const owner = ownerOf(world, at);
  const owns = (merchant: Merchant | undefined): number => (merchant?.lease?.owner === owner ? 1 : 0);
  const watches =
    watched !== undefined && isKept(world, watched.mark)
      ? `${watched.mark} ${Math.max(watched.until, world.time)}`
      : '';
  return mixed([
    keyOfPart(replica, () => {
      const { watched: _seen, epoch: _name, ...rest } = replica;
      return JSON.stringify(rest);
    }),
    2 * owns(world.store) + owns(world.lagging),
    textKey(watches),
  ]);
}

const isKept = ({ store, lagging }: World, mark: string): boolean =>
  [store, lagging].some(
    (merchant) =>
      merchant !== undefined &&
      [merchant.due?.mark, merchant.lease?.end.mark, merchant.cooledDown?.mark].includes(mark),
  );

/** Worlds share most of their parts, which never change. */
const knownParts = new WeakMap<object, number>();

function keyOfPart(part: object, text: () => string): number {
  const known = knownParts.get(part);
  if (known !== undefined) return known;
  const key = textKey(text());
  knownParts.set(part, key);
  return key;
}

const SEEDS = [0xdeadbeef, 0x41c6ce57] as const;
const HIGH = 4_294_967_296;

/** As cyrb53 does. */
function textKey(text: string): number {
  let [high, low]: [number, number] = [...SEEDS];
  for (let at = 0; at < text.length; at += 1) {
    const code = text.charCodeAt(at);
    high = Math.imul(high ^ code, 2_654_435_761);
    low = Math.imul(low ^ code, 1_597_334_677);
  }
  return finished(high, low);
}

function mixed(keys: readonly number[]): number {
  let [high, low]: [number, number] = [...SEEDS];
  for (const key of keys) {
    const upper = Math.floor(key / HIGH);
    const lower = key >>> 0;
    high = Math.imul(Math.imul(high ^ lower, 2_654_435_761) ^ upper, 2_246_822_507);
    low = Math.imul(Math.imul(low ^ upper, 1_597_334_677) ^ lower, 3_266_489_909);
    high ^= low >>> 15;
    low ^= high >>> 13;
  }
  return finished(high, low);
}

function finished(high: number, low: number): number {
  const upper = Math.imul(high ^ (high >>> 16), 2_246_822_507) ^ Math.imul(low ^ (low >>> 13), 3_266_489_909);
  const lower = Math.imul(low ^ (low >>> 16), 2_246_822_507) ^ Math.imul(upper ^ (upper >>> 13), 3_266_489_909);
  return HIGH * (2_097_151 & lower) + (upper >>> 0);
}
