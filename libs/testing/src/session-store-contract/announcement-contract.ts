import type { Announcement, ReplicaSignal, SessionStore } from '#libs/session';
import { anOffer, aRecordedFailure, aSession } from '../builders.js';
import { type Bench, failOnce, giveUp, lease, LONG_MS, publicationOf, publishOnce } from './store-under-test.js';

const isOf = (announcement: Announcement, merchant: string): boolean =>
  announcement.kind === 'changed' && announcement.merchant === merchant;

/** The next announcement about this merchant, however long it takes to arrive. */
export function nextOf(store: SessionStore, merchant: string): Promise<Announcement> {
  return new Promise((resolve) => {
    const end = store.onAnnouncement((announcement) => {
      if (!isOf(announcement, merchant)) return;
      end();
      resolve(announcement);
    });
  });
}

/** The next signal from a replica to the others. */
function nextSignal(store: SessionStore): Promise<Announcement> {
  return new Promise((resolve) => {
    const end = store.onAnnouncement((announcement) => {
      if (announcement.kind !== 'handover' && announcement.kind !== 'unopenable') return;
      end();
      resolve(announcement);
    });
  });
}

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
    it('tell every replica of a publication', async () => {
      const [store, other] = bench().replicas;
      const heard = [nextOf(store, 'shop'), nextOf(other, 'shop')];
      const generation = await publishOnce(store);
      const announcement = { kind: 'changed', merchant: 'shop', generation };
      expect(await Promise.all(heard)).toEqual([announcement, announcement]);
    });

    it('tell every replica of an offer that was taken', async () => {
      const [store, other] = bench().replicas;
      const heard = nextOf(other, 'shop');
      await store.offer(anOffer(aSession({ generation: 4_711 })));
      expect(await heard).toEqual({ kind: 'changed', merchant: 'shop', generation: 4_711 });
    });

    it('tell every replica that an attempt failed, and nothing about it that could be taken for a fact', async () => {
      const [store, other] = bench().replicas;
      const heard = nextOf(other, 'shop');
      await failOnce(store, 1_500);
      expect(await heard).toEqual({ kind: 'changed', merchant: 'shop' });
    });

    it.each<ReplicaSignal>([
      { kind: 'handover', step: 'begins', merchant: 'shop', generation: 4_712, holdForMs: 3_000 },
      { kind: 'unopenable', merchant: 'shop', generation: 4_712 },
    ])('of one replica reach every replica as they were said, and tell how many there are: $kind', async (signal) => {
      const [store, other] = bench().replicas;
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
      const publishing = store.publish(leased, publicationOf(leased));
      answered = true;
      await publishing;
      expect(await sawAnswer).toBe(true);
    });

    it('tell once of a publication or an offer that came twice', async () => {
      const [store, other] = bench().replicas;
      const leased = await lease(store);
      const offer = anOffer(aSession({ generation: leased.fence + 1 }), { known: leased.fence });
      const heard = await heardDuring(other, async () => {
        await store.publish(leased, publicationOf(leased));
        await store.publish(leased, publicationOf(leased));
        await store.offer(offer);
        await store.offer(offer);
      });
      expect(heard).toEqual([
        { kind: 'changed', merchant: 'shop', generation: leased.fence },
        { kind: 'changed', merchant: 'shop', generation: leased.fence + 1 },
      ]);
    });

    it('do not report what changed nothing that others see', async () => {
      const [store, other] = bench().replicas;
      const heard = await heardDuring(other, async () => {
        const ended = await giveUp(store);
        await store.release(ended, { called: true, nextDueInMs: 0, failure: aRecordedFailure() });
        await store.enrol(['shop']);
        const leased = await lease(store);
        await store.offer(anOffer(aSession({ generation: leased.fence - 1 })));
        const older = { ...leased, fence: leased.fence - 2 };
        await store.publish(older, publicationOf(older));
        await store.release(leased, { called: false, nextDueInMs: LONG_MS });
      });
      expect(heard).toEqual([]);
    });

    it('reach every other listener when one throws, and none that has ended its subscription', async () => {
      const [store] = bench().replicas;
      const heard: string[] = [];
      store.onAnnouncement(() => {
        throw new Error('a listener that throws on purpose');
      });
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
