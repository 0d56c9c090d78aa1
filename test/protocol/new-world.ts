import { instantFromEpochMs } from '#libs/clock';
import { admit } from '#libs/session';
import { answered, asks, issuedBy, without } from './driver.js';
import { askStore, MERCHANT } from './store-state.js';
import {
  type Asked,
  type Call,
  changed,
  freshReplica,
  msOf,
  phases,
  readingOf,
  settings,
  type World,
} from './world.js';

/** Every replica holds the first session, which is one phase old. */
export function newWorld(replicas: number, faults: number): World {
  const empty: World = {
    time: 0,
    clockOffset: 0,
    store: undefined,
    grants: 0,
    storeState: 'answers',
    isGatewayDown: false,
    calls: [],
    live: 0,
    replicas: Array.from({ length: replicas }, () => ({ ...freshReplica(0, 0), state: 'up' as const })),
    faults: [],
    faultsLeft: faults,
    extraCalls: { leased: 0, reported: 0 },
  };
  const made = withFirstSession(empty);
  const read = made.replicas.reduce((world, _, at) => {
    const asking = asks(world, at, { question: { ask: 'sync', known: 0 } });
    const asked = asking.replicas[at]?.asked[0] as Asked;
    const { answer } = askStore(asking.store, asked.question, readingOf(asking));
    const synced = answered(without(asking, at, asked), at, { ...asked, answer });
    return changed(synced, at, { letsOthersOffer: false, wantsRead: false });
  }, made);
  return { ...read, time: phases.start };
}

function withFirstSession(world: World): World {
  const reading = readingOf(world);
  const request = {
    merchant: MERCHANT,
    owner: 'maker',
    leaseMs: 1_000,
    mode: 'when_due',
    newerThan: 0,
    floor: 0,
  } as const;
  const claim = { ...request, budget: settings.budget, coolDownMs: 0 };
  const { answer, store } = askStore(world.store, { ask: 'claim', request: claim }, reading);
  if (answer.ask !== 'claim' || answer.result.kind !== 'claimed') throw new Error('nobody else claims');
  const { lease } = answer.result;
  const ms = msOf(world);
  const call: Call = {
    generation: lease.fence,
    grantedAtMs: ms,
    sentWallMs: ms,
    isEarly: false,
    state: 'carried out',
    madeAtMs: ms,
  };
  const called = { ...world, calls: [call], store };
  const facts = { merchant: MERCHANT, generation: lease.fence, settings, jitter: 0, before: { deathsBefore: 0 } };
  const session = admit(issuedBy(called, 0, 0), facts);
  const nextDueInMs = session.renewAt - instantFromEpochMs(ms);
  const publication = { session, ageMs: 0, nextDueInMs };
  return { ...called, store: askStore(store, { ask: 'publish', lease, publication }, reading).store };
}
