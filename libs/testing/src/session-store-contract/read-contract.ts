import type { Announcement, SessionStore } from '#libs/session';
import { aClaim, aRecordedFailure, aSession } from '../builders.js';
import { type Bench, lease, LONG_MS } from './store-under-test.js';

/** The next announcement to arrive, whatever it takes to get here. */
function nextAnnouncement(store: SessionStore): Promise<Announcement> {
  return new Promise((resolve) => {
    const end = store.onAnnouncement((announcement) => {
      end();
      resolve(announcement);
    });
  });
}

async function publishOnce(store: SessionStore, merchant = 'shop'): Promise<number> {
  const held = await lease(store, { merchant });
  await store.publish(held, aSession({ merchant, generation: held.fence }), LONG_MS);
  return held.fence;
}

export function describeReadAndAnnouncements(bench: Bench): void {
  describe('read', () => {
    it('answers in the order asked, also for merchants it does not know', async () => {
      const [store, other] = bench().replicas;
      const generation = await publishOnce(store, 'b');
      await store.enrol(['c']);
      expect(await other.read(['c', 'unknown', 'b', 'c'])).toEqual([
        { merchant: 'c', stored: { kind: 'absent' }, dueInMs: 0 },
        { merchant: 'unknown', stored: { kind: 'absent' } },
        expect.objectContaining({
          merchant: 'b',
          stored: expect.objectContaining({ session: expect.objectContaining({ generation }) }),
        }),
        { merchant: 'c', stored: { kind: 'absent' }, dueInMs: 0 },
      ]);
    });

    it('answers nothing to no question', async () => {
      expect(await bench().replicas[0].read([])).toEqual([]);
    });

    it('does not make a merchant known', async () => {
      const [store] = bench().replicas;
      await store.read(['shop']);
      expect(await store.due(10)).toEqual({ merchants: [] });
    });

    it('reads many merchants at once', async () => {
      const [store, other] = bench().replicas;
      const merchants = Array.from({ length: 450 }, (_, index) => `merchant-${index}`);
      await store.enrol(merchants.slice(0, 400));
      const states = await other.read(merchants);
      expect(states.map(({ merchant }) => merchant)).toEqual(merchants);
      expect(states.filter(({ dueInMs }) => dueInMs === 0)).toHaveLength(400);
    });
  });

  describe('announcements', () => {
    it('tell every replica of a publication', async () => {
      const [store, other] = bench().replicas;
      const heard = [nextAnnouncement(store), nextAnnouncement(other)];
      const generation = await publishOnce(store);
      const announcement = { kind: 'published', merchant: 'shop', generation };
      expect(await Promise.all(heard)).toEqual([announcement, announcement]);
    });

    it('tell every replica of a failure and of the time to the next attempt', async () => {
      const [store, other] = bench().replicas;
      const heard = nextAnnouncement(other);
      const failure = aRecordedFailure();
      await store.release(await lease(store), { called: true, nextDueInMs: 1_500, failure });
      expect(await heard).toEqual({ kind: 'failed', merchant: 'shop', failure, retryInMs: 1_500 });
    });

    it('come after the operation that they tell of, never in the middle of it', async () => {
      const [store] = bench().replicas;
      let answered = false;
      const sawAnswer = new Promise<boolean>((resolve) => {
        store.onAnnouncement(() => resolve(answered));
      });
      const held = await lease(store);
      const publishing = store.publish(held, aSession({ generation: held.fence }), LONG_MS);
      answered = true;
      await publishing;
      expect(await sawAnswer).toBe(true);
    });

    it('tell nothing of what changed nothing', async () => {
      const [store, other] = bench().replicas;
      const heard: Announcement[] = [];
      other.onAnnouncement((announcement) => heard.push(announcement));
      const held = await lease(store);
      const session = aSession({ generation: held.fence });
      await store.publish(held, session, 0);
      await store.publish(held, session, 0);
      await store.release(held, { called: true, nextDueInMs: 0, failure: aRecordedFailure() });
      const last = nextAnnouncement(other);
      const generation = await publishOnce(store, 'last');
      await last;
      expect(heard).toEqual([
        { kind: 'published', merchant: 'shop', generation: held.fence },
        { kind: 'published', merchant: 'last', generation },
      ]);
    });

    it('reach every other listener when one throws, and none that has ended its subscription', async () => {
      const [store] = bench().replicas;
      const heard: string[] = [];
      store.onAnnouncement(() => {
        throw new Error('a listener that throws on purpose');
      });
      const end = store.onAnnouncement(() => heard.push('ended'));
      store.onAnnouncement(() => heard.push('listening'));
      end();
      end();
      const last = nextAnnouncement(store);
      await publishOnce(store);
      await last;
      expect(heard).toEqual(['listening']);
    });
  });

  describe('close', () => {
    it('ends the use of the store: every operation then fails as store_unavailable', async () => {
      const [store] = bench().replicas;
      const held = await lease(store);
      await store.close();
      await store.close();
      const outcomes = await Promise.allSettled([
        store.enrol(['shop']),
        store.due(1),
        store.claim(aClaim()),
        store.publish(held, aSession({ generation: held.fence }), 0),
        store.release(held, { called: true, nextDueInMs: 0 }),
        store.read(['shop']),
      ]);
      const unavailable = { status: 'rejected', reason: expect.objectContaining({ code: 'store_unavailable' }) };
      expect(outcomes).toEqual(outcomes.map(() => unavailable));
    });
  });
}
