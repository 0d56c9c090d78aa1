import type { Lease, SessionStore, StoredState } from '#libs/session';
import { anOffer, aPublication, aSession, describeWith, eventually, lease, RedisProcess } from '#libs/testing';
import { openedByTests, SHORT_TIMEOUTS } from './redis-store-fixture.js';

/** Between two clocks that count in whole milliseconds. */
const ROUNDING_MS = 5;
const NEXT_DUE_MS = 600_000;

const { open, started } = openedByTests();

/** A Redis that stands still after a command was sent, and runs it when it goes on: its sender has given up by then. */
describeWith('redis-server', 'a command that a stopped Redis runs late', () => {
  let redis: RedisProcess;
  let store: SessionStore;

  beforeEach(async () => {
    redis = await started(RedisProcess.start());
    const connection = { kind: 'single', address: redis.address, database: 0 } as const;
    ({ store } = await open({ connection, timeouts: SHORT_TIMEOUTS }));
    // A server that does not know a script yet asks for its text, and the sender that has given up would not answer.
    const { fence: generation } = await published('known');
    await store.reportDead('known', { generation, ageMs: 0 });
    await store.offer(anOffer(aSession({ merchant: 'known', generation: generation + 1 })));
  });

  /** @returns how long the command waited at least, and the state that it left behind */
  async function runLate(
    command: () => Promise<unknown>,
    isDone: (state: StoredState) => boolean,
  ): Promise<{ readonly waitedMs: number; readonly state: StoredState; readonly elapsedMs: () => number }> {
    redis.freeze();
    const sentAtMs = performance.now();
    await expect(command()).rejects.toMatchObject({ code: 'store_unavailable' });
    const waitedMs = performance.now() - sentAtMs;
    redis.thaw();
    let state: StoredState | undefined;
    await eventually(async () => {
      const answer = await store.read([{ merchant: 'shop', known: 0 }]).catch(() => undefined);
      state = answer?.states[0];
      return state !== undefined && isDone(state);
    });
    if (state === undefined) throw new Error('it was not read');
    return { waitedMs, state, elapsedMs: () => performance.now() - sentAtMs };
  }

  async function published(merchant: string): Promise<Lease> {
    const leased = await lease(store, { merchant });
    await store.publish(leased, aPublication(aSession({ merchant, generation: leased.fence })));
    return leased;
  }

  const isStored = ({ stored }: StoredState): boolean => stored.kind === 'session';

  it('publishes a session as old as it is, that falls due when it has to', async () => {
    const leased = await lease(store);
    const publication = aPublication(aSession({ generation: leased.fence }), { ageMs: 0, nextDueInMs: NEXT_DUE_MS });
    const late = await runLate(() => store.publish(leased, publication), isStored);
    const { stored, dueInMs = Infinity } = late.state;
    const ageMs = stored.kind === 'session' ? stored.ageMs : NaN;
    expect(late.waitedMs).toBeGreaterThan(SHORT_TIMEOUTS.commandMs - ROUNDING_MS);
    expect(ageMs).toBeGreaterThan(late.waitedMs - ROUNDING_MS);
    expect(ageMs).toBeLessThan(late.elapsedMs() + SHORT_TIMEOUTS.commandMs);
    expect(dueInMs).toBeLessThan(NEXT_DUE_MS - late.waitedMs + ROUNDING_MS);
  });

  it('offers a session as old as it is, that falls due when it has to', async () => {
    const offer = anOffer(aSession({ generation: 7 }), { ageMs: 1_000, nextDueInMs: NEXT_DUE_MS, known: 0 });
    const late = await runLate(() => store.offer(offer), isStored);
    const { stored, dueInMs = Infinity } = late.state;
    const ageMs = stored.kind === 'session' ? stored.ageMs : NaN;
    expect(ageMs).toBeGreaterThan(1_000 + late.waitedMs - ROUNDING_MS);
    expect(ageMs).toBeLessThan(1_000 + late.elapsedMs() + SHORT_TIMEOUTS.commandMs);
    expect(dueInMs).toBeLessThan(NEXT_DUE_MS - late.waitedMs + ROUNDING_MS);
  });

  it('reports a session dead since when it was', async () => {
    const { fence: generation } = await published('shop');
    const report = { generation, ageMs: 500 };
    const late = await runLate(
      () => store.reportDead('shop', report),
      ({ reportedDead }) => reportedDead !== undefined,
    );
    const ageMs = late.state.reportedDead?.ageMs ?? NaN;
    expect(ageMs).toBeGreaterThan(500 + late.waitedMs - ROUNDING_MS);
    expect(ageMs).toBeLessThan(500 + late.elapsedMs() + SHORT_TIMEOUTS.commandMs);
  });
});
