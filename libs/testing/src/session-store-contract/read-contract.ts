import type { Announcement, ReplicaSignal, SessionStore } from '#libs/session';
import { aDeathReport, aPublication, aRecordedFailure, aSession } from '../builders.js';
import {
  type Bench,
  enrol,
  expectAbout,
  expectAged,
  expectUnavailable,
  failOnce,
  giveUp,
  lease,
  LONG_MS,
  publicationOf,
  publishOnce,
  SHORT_MS,
  stateOf,
} from './store-under-test.js';

const unknown = (merchant: string): { merchant: string; known: number } => ({ merchant, known: 0 });

export function describeRead(bench: Bench): void {
  describe('read', () => {
    it('answers in the order asked, and makes known whom it does not know', async () => {
      const [store, other] = bench().replicas;
      const generation = await publishOnce(store, 'b');
      const { states } = await other.read(['c', 'b', 'c'].map(unknown));
      const enrolled = { merchant: 'c', stored: { kind: 'absent' }, dueInMs: 0 };
      expect(states).toEqual([
        enrolled,
        expect.objectContaining({
          merchant: 'b',
          stored: expect.objectContaining({ session: expect.objectContaining({ generation }) }),
        }),
        enrolled,
      ]);
      expect((await store.due(10)).merchants).toEqual(['c']);
    });

    it('does not send what the reader has already, and tells its age and due moment', async () => {
      const { replicas, advance } = bench();
      const [store, other] = replicas;
      const known = await publishOnce(store);
      await advance(SHORT_MS);
      const { stored, dueInMs } = await stateOf(other, 'shop', known);
      if (stored.kind !== 'unchanged') throw new Error('the reader has it already');
      expectAged(stored.ageMs, SHORT_MS);
      expectAbout(dueInMs, LONG_MS - SHORT_MS);
    });

    it('sends the session to a reader that has another one, be it older or newer, and nothing where there is none', async () => {
      const [store, other] = bench().replicas;
      for (const known of [0, 1_000]) expect((await stateOf(store, 'shop', known)).stored).toEqual({ kind: 'absent' });
      const generation = await publishOnce(store);
      for (const known of [0, generation - 2, generation + 2]) {
        expect((await stateOf(other, 'shop', known)).stored).toMatchObject({
          kind: 'session',
          session: { generation },
        });
      }
    });

    it('reads many merchants at once, and does not send what the reader has of one among them', async () => {
      const [store, other] = bench().replicas;
      const wanted = Array.from({ length: 450 }, (_, index) => unknown(`merchant-${index}`));
      wanted[449] = { merchant: 'merchant-449', known: await publishOnce(store, 'merchant-449') };
      const { states } = await other.read(wanted);
      expect(states.map(({ merchant }) => merchant)).toEqual(wanted.map(({ merchant }) => merchant));
      expect(states[449]?.stored.kind).toBe('unchanged');
      expect(states.filter(({ dueInMs }) => dueInMs === 0)).toHaveLength(449);
    });
  });

  describe('close', () => {
    it('ends the use of the store: every operation then fails as store_unavailable', async () => {
      const [store] = bench().replicas;
      await store.close();
      await store.close();
      await expectUnavailable(store);
    });
  });
}

export function describeReport(bench: Bench): void {
  describe('report', () => {
    it('is told to everybody who reads, whether they have the session already or not', async () => {
      const [store, other] = bench().replicas;
      const generation = await publishOnce(store);
      expect(await stateOf(other)).not.toHaveProperty('reportedDead');
      const report = aDeathReport({ generation, ageMs: 600_000 });
      expect(await store.report('shop', report)).toEqual({ isKept: true, diedEarly: false });
      for (const known of [0, generation]) {
        const { reportedDead } = await stateOf(other, 'shop', known);
        expect(reportedDead).toEqual({ generation, ageMs: expect.any(Number), diedEarly: false });
        // From the report on, however late the store hears of it.
        expectAged(reportedDead?.ageMs, 600_000);
      }
    });

    it('is announced each time, as something to be read', async () => {
      const [store, other] = bench().replicas;
      const published = nextOf(other, 'shop');
      const generation = await publishOnce(store);
      await published;
      for (const reporter of [store, store, other]) {
        const heard = nextOf(other, 'shop');
        await reporter.report('shop', aDeathReport({ generation }));
        expect(await heard).toEqual({ kind: 'changed', merchant: 'shop' });
      }
    });

    it('is replaced by the next report, but not what it has proven', async () => {
      const [store, other] = bench().replicas;
      const generation = await publishOnce(store);
      const proof = aDeathReport({ generation, mayProve: true });
      expect(await store.report('shop', proof)).toEqual({ isKept: true, diedEarly: true });
      const last = { generation, ageMs: 0, mayProve: false };
      expect(await other.report('shop', last)).toEqual({ isKept: true, diedEarly: true });
      expect((await stateOf(store)).reportedDead).toEqual({ generation, ageMs: expect.any(Number), diedEarly: true });
    });

    it('proves nothing once a lease was granted: whatever was called under it may have ended the session', async () => {
      const [store, other] = bench().replicas;
      const generation = await publishOnce(store);
      await lease(other, { owner: 'replica-2' });
      const again = await publishOnce(store, 'second');
      await giveUp(other, { merchant: 'second' });
      const reports = { shop: generation, second: again };
      for (const [merchant, its] of Object.entries(reports)) {
        const answer = await store.report(merchant, aDeathReport({ generation: its, mayProve: true }));
        expect(answer).toEqual({ isKept: true, diedEarly: false });
      }
    });

    it('says nothing about the session that comes next', async () => {
      const [store, other] = bench().replicas;
      const report = aDeathReport({ generation: await publishOnce(store), mayProve: true });
      await store.report('shop', report);
      const generation = await publishOnce(store);
      for (const known of [0, generation]) {
        expect(await stateOf(other, 'shop', known)).not.toHaveProperty('reportedDead');
      }
      expect(await store.report('shop', aDeathReport({ generation }))).toEqual({ isKept: true, diedEarly: false });
    });

    it('is not kept for any generation but the stored one', async () => {
      const [store] = bench().replicas;
      const notKept = { isKept: false, diedEarly: false };
      expect(await store.report('shop', aDeathReport({ mayProve: true }))).toEqual(notKept);
      const generation = await publishOnce(store);
      for (const other of [generation - 1, generation + 1]) {
        expect(await store.report('shop', aDeathReport({ generation: other, mayProve: true }))).toEqual(notKept);
      }
      expect(await stateOf(store)).not.toHaveProperty('reportedDead');
    });
  });
}

const isOf = (announcement: Announcement, merchant: string): boolean =>
  announcement.kind === 'changed' && announcement.merchant === merchant;

function next(store: SessionStore, isWanted: (announcement: Announcement) => boolean): Promise<Announcement> {
  return new Promise((resolve) => {
    const end = store.onAnnouncement((announcement) => {
      if (!isWanted(announcement)) return;
      end();
      resolve(announcement);
    });
  });
}

/** The next announcement about this merchant, however long it takes to arrive. */
export const nextOf = (store: SessionStore, merchant: string): Promise<Announcement> =>
  next(store, (announcement) => isOf(announcement, merchant));

/** The next signal from a replica to the others. */
const nextSignal = (store: SessionStore): Promise<Announcement> => next(store, ({ kind }) => kind === 'handover');

/** Everything that is announced about `shop` until a publication of another merchant, which is the last of all. */
async function heardDuring(store: SessionStore, act: () => Promise<void>): Promise<readonly Announcement[]> {
  const heard: Announcement[] = [];
  const end = store.onAnnouncement((announcement) => {
    if (isOf(announcement, 'shop')) heard.push(announcement);
  });
  const last = nextOf(store, 'last');
  await act();
  await publishOnce(store, 'last');
  await last;
  end();
  return heard;
}

export function describeAnnouncements(bench: Bench): void {
  describe('announcements', () => {
    it('tell every replica of a publication, with a lease or without, and of a failure nothing but that it was', async () => {
      const [store, other] = bench().replicas;
      const heard = [nextOf(store, 'shop'), nextOf(other, 'shop')];
      const generation = await publishOnce(store);
      const announcement = { kind: 'changed', merchant: 'shop', generation };
      expect(await Promise.all(heard)).toEqual([announcement, announcement]);
      const next = nextOf(other, 'shop');
      await store.publish(aPublication(aSession({ generation: generation + 1 })));
      expect(await next).toEqual({ ...announcement, generation: generation + 1 });
      const failed = nextOf(other, 'shop');
      await failOnce(store, 1_500);
      expect(await failed).toEqual({ kind: 'changed', merchant: 'shop' });
    });

    it('of one replica reach every replica as they were said, and tell how many there are', async () => {
      const [store, other] = bench().replicas;
      const told = { merchant: 'shop', generation: 4_712, holdForMs: 3_000 };
      const signal: ReplicaSignal = { kind: 'handover', step: 'begins', ...told };
      const heard = [nextSignal(store), nextSignal(other)];
      const replicas = await store.announce(signal);
      expect([undefined, 2]).toContain(replicas);
      expect(await Promise.all(heard)).toEqual([signal, signal]);
    });

    it('come after the operation that they report, never in the middle of it', async () => {
      const [store] = bench().replicas;
      let answered = false;
      const sawAnswer = new Promise<boolean>((resolve) => {
        store.onAnnouncement((announcement) => {
          if (isOf(announcement, 'shop')) resolve(answered);
        });
      });
      const leased = await lease(store);
      const publishing = store.publish(publicationOf(leased), leased);
      answered = true;
      await publishing;
      expect(await sawAnswer).toBe(true);
    });

    it('tell once of a publication that came twice, and do not report what changed nothing that others see', async () => {
      const [store, other] = bench().replicas;
      const released = await giveUp(store);
      const leased = await lease(store);
      const heard = await heardDuring(other, async () => {
        await store.release(released, { called: true, nextDueInMs: 0, failure: aRecordedFailure() });
        await enrol(store, 'shop');
        for (const _ of [1, 2]) await store.publish(publicationOf(leased), leased);
        await store.publish(aPublication(aSession({ generation: leased.fence - 1 })));
        const older = { ...leased, fence: leased.fence - 2 };
        await store.publish(publicationOf(older), older);
        await giveUp(store, { newerThan: leased.fence }, { called: false });
      });
      expect(heard).toEqual([{ kind: 'changed', merchant: 'shop', generation: leased.fence }]);
    });

    it('reach every listener, and none that has ended its subscription', async () => {
      const [store] = bench().replicas;
      const heard: string[] = [];
      const end = store.onAnnouncement(() => heard.push('ended'));
      store.onAnnouncement((announcement) => {
        if (isOf(announcement, 'shop')) heard.push('listening');
      });
      end();
      end();
      const last = nextOf(store, 'shop');
      await publishOnce(store);
      await last;
      expect(heard).toEqual(['listening']);
    });
  });
}
