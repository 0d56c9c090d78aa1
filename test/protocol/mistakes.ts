import { registerHooks } from 'node:module';
import type { explore, Exploration } from './explore.js';
import type { FaultKind } from './world.js';

/** A mistake in one line of the domain or the memory store, and the promise that it breaks first. */
export interface Mistake {
  readonly name: string;
  readonly breaks: string;
  /** Below libs/, without its ending: the compiled file is changed as it is loaded. */
  readonly file: string;
  readonly find: string;
  readonly replace: string;
  /** 1 unless two have to come together; then only these strike. */
  readonly kinds?: readonly FaultKind[];
}

const life = 'session/src/life';
const store = 'store/src/memory/merchant-record';

export const mistakes: readonly Mistake[] = [
  {
    name: 'a lease under which a call was made is used for another',
    breaks: '1 a number of its own',
    file: life,
    find: 'floor: Math.max(merchant.floor, lease.fence),',
    replace: '',
    kinds: ['gateway down', 'request lost'],
  },
  {
    name: 'a session is served only once the store has it',
    breaks: '8 served at once',
    file: life,
    find: "const served = adopted(merchant, { session, ageMs, kept: 'here_alone' }, now);",
    replace: 'const served = merchant;',
  },
  {
    name: 'an announcement is not followed',
    breaks: '4 none that ours has ended',
    file: life,
    find: 'if (isNewer || generation === undefined)',
    replace: 'if (generation === undefined)',
  },
  {
    name: 'an announcement sets what is seen',
    breaks: '1 a hint sets nothing',
    file: life,
    find: "now.effects.push({ do: 'read', isUrgent: isNewer });\n    return merchant;",
    replace: 'return { ...merchant, floor: Math.max(merchant.floor, generation ?? 0) };',
  },
  {
    name: 'an older session takes the place of a newer one',
    breaks: '1 never back',
    file: life,
    find: 'now.settings === undefined || generation <= generationOf(merchant)',
    replace: 'now.settings === undefined',
  },
  {
    name: 'a store that was emptied is not told',
    breaks: '5 nothing is lost',
    file: life,
    find: 'if (generation >= held.session.generation)',
    replace: 'if (generation === 0 || generation >= held.session.generation)',
  },
  {
    name: 'a store that is older again is not told',
    breaks: '5 nothing is lost',
    file: life,
    find: 'if (generation >= held.session.generation)',
    replace: 'if (generation > 0 || generation >= held.session.generation)',
  },
  {
    name: 'what the store did not confirm is not offered',
    breaks: '5 nothing is lost',
    file: life,
    find: "held.kept === 'in_store' || merchant.isOffering",
    replace: "held.kept !== 'lost' || merchant.isOffering",
  },
  {
    name: 'a call goes out although its lease is about to end',
    breaks: '3 few calls',
    file: life,
    find: 'return spareMs(granted, now) < 0 ? LOST : undefined;',
    replace: 'return undefined;',
  },
  {
    name: 'a call that was made is given back',
    breaks: '6 the share of the schedule',
    file: life,
    find: 'called: failure.wasReached,',
    replace: 'called: false,',
  },
  {
    name: 'a claim asks for no more than any session',
    breaks: '3 few calls',
    file: life,
    find: 'newerThan: Math.max(above, knownOf(merchant)),',
    replace: 'newerThan: Number.MAX_SAFE_INTEGER,',
  },
  {
    name: 'a claim without an answer is waited for',
    breaks: '7 every phase ends',
    file: life,
    find: 'return ended(merchant, STORE_DOWN, now);',
    replace: 'return merchant;',
  },
  {
    name: 'an offer that was answered is still waited for',
    breaks: '7 every phase ends',
    file: life,
    find: 'const after = { ...merchant, isOffering: false };',
    replace: 'const after = merchant;',
  },
  {
    name: 'a publication is not repeated',
    breaks: '5 nothing is lost',
    file: life,
    find: 'now.effects.push(publishEffect(phase, PUBLISH_RETRY_PAUSE_MS));',
    replace: '',
  },
  {
    name: 'the age of what the store has is ignored',
    breaks: '2 none expired',
    file: life,
    find: 'now.wall), now.ms - ageMs, { kept });',
    replace: 'now.wall), now.ms, { kept });',
  },
  {
    name: 'a wall clock that is set during a call moves the end of the session',
    breaks: '2 none expired',
    file: life,
    find: 'const issued = timedSteadily(answer, answeredAtMs - askedAtMs);',
    replace: 'const issued = answer;',
  },
  {
    name: 'a session that is over is served',
    breaks: '2 none expired',
    file: 'session/src/decisions',
    find: "[isExpired, { result: 'unavailable', reason: 'expired' }],",
    replace: '',
  },
  {
    name: 'past its margin a session is still called fresh',
    breaks: '2 none expired',
    file: 'session/src/decisions',
    find: "[isPastMargin, { result: 'stale', reason: 'past_margin' }],",
    replace: '',
  },
  {
    name: 'a session is renewed only at its margin',
    breaks: '7 renewed in time',
    file: 'session/src/session-moments',
    find: 'const bySafety = plusMs(expiresAt, -leadMs);',
    replace: 'const bySafety = plusMs(expiresAt, -marginMs / 2);',
  },
  {
    name: 'wishes spend what belongs to the schedule',
    breaks: '6 the share of the schedule',
    file: 'session/src/obstacles',
    find: 'if (wish.cutsShort === undefined && !replacesLiving(wish))',
    replace: '',
  },
  {
    name: 'replicas draw their numbers from one another',
    breaks: '1 a number of its own',
    file: 'session/src/session',
    find: 'return next + ((((residue - next) % CLASSES) + CLASSES) % CLASSES) - 1;',
    replace: 'return floor;',
    kinds: ['clock back', 'emptied'],
  },
  {
    name: 'a store whose clock was set back makes a session young again',
    breaks: '2 none expired',
    file: 'session/src/store-clock',
    find: 'return Math.max(0, storeAgeMs, wallAgeMs);',
    replace: 'return Math.max(0, storeAgeMs);',
    kinds: ['clock back', 'crash'],
  },
  {
    name: 'the store grants what somebody else has',
    breaks: '1 one lease',
    file: store,
    find: "if (lease.owner !== owner)\n            return { kind: 'held', retryInMs: remainingMs };",
    replace: '',
  },
  {
    name: 'the store grants a claim for less than it has',
    breaks: '3 few calls',
    file: store,
    find: 'return generation > request.newerThan ?',
    replace: 'return generation < 0 ?',
  },
  {
    name: 'the store grants a spent lease again',
    breaks: '1 a number of its own',
    file: store,
    find: 'const isSpent = fence <= believedFloor(floor);',
    replace: 'const isSpent = false;',
    kinds: ['gateway down', 'request lost'],
  },
  {
    name: 'the store ignores what the claimant has seen',
    breaks: '1 a number of its own',
    file: store,
    find: 'generationIn(record), believedFloor(floor)) + 1',
    replace: 'generationIn(record)) + 1',
    kinds: ['clock back', 'emptied'],
  },
  {
    name: 'the store takes a publication under an older lease',
    breaks: '1 never back',
    file: store,
    find: 'if (Math.max(record.fence, generationIn(record)) > generation)',
    replace: 'if (false)',
  },
  {
    name: 'a release frees the lease of somebody else',
    breaks: '1 one lease',
    file: store,
    find: 'if (lease?.owner !== owner || record.fence !== fence || !isLeased(record, nowMs))',
    replace: 'if (lease === undefined)',
  },
  {
    name: 'the store forgets the call of a lease that is released',
    breaks: '6 the share of the schedule',
    file: store,
    find: 'called ? record : uncalled(record, lease.end.fromMs)',
    replace: 'uncalled(record, lease.end.fromMs)',
  },
  {
    name: 'the store says that nothing is newer',
    breaks: '4 none that ours has ended',
    file: store,
    find: 'if (stored.session.generation === known)',
    replace: 'if (known > 0)',
  },
  {
    name: 'the store does not age what it has',
    breaks: '2 none expired',
    file: store,
    find: 'const ageMs = nowMs - stored.answeredAtMs;',
    replace: 'const ageMs = 0;',
  },
  {
    name: 'a lease whose end was set back lasts on',
    breaks: '7 renewed in time',
    file: store,
    find: 'return aheadMs > lengthMs + SET_BACK_MS ? 0 : Math.max(0, Math.min(aheadMs, lengthMs));',
    replace: 'return Math.max(0, Math.min(aheadMs, lengthMs));',
    kinds: ['clock back', 'crash'],
  },
];

/** Plants it in a copy of the program of its own, and searches that. */
export async function exploreWith(mistake: Mistake, bounds: Parameters<typeof explore>[0]): Promise<Exploration> {
  const query = `?mistake=${encodeURIComponent(mistake.name)}`;
  let isPlanted = false;
  const hooks = registerHooks({
    resolve(specifier, context, next) {
      const resolved = next(specifier, context);
      const isOurs = context.parentURL?.endsWith(query) === true && resolved.url.includes('/dist/');
      return isOurs ? { ...resolved, url: resolved.url + query } : resolved;
    },
    load(url, context, next) {
      const loaded = next(url, context);
      if (!url.endsWith(`/libs/${mistake.file}.js${query}`)) return loaded;
      const source = Buffer.from(loaded.source as Uint8Array).toString();
      if (source.split(mistake.find).length !== 2) throw new Error(`${mistake.file}: there is not one ${mistake.find}`);
      isPlanted = true;
      return { ...loaded, source: source.replace(mistake.find, () => mistake.replace) };
    },
  });
  try {
    const wrong = (await import(`./explore.js${query}`)) as { explore: typeof explore };
    if (!isPlanted) throw new Error(`${mistake.file} is not part of what is explored`);
    return wrong.explore(bounds);
  } finally {
    hooks.deregister();
  }
}
