import type { Announcement, ReplicaSignal, SessionStore } from '#libs/session';
import { aPublication, aRecordedFailure, aSession } from '../builders.js';
import { type Bench, enrol, failOnce, giveUp, lease, LONG_MS, publicationOf, publishOnce } from './store-under-test.js';

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
      if (announcement.kind !== 'handover') return;
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

    it('tell every replica of a session that was published without a lease', async () => {
      const [store, other] = bench().replicas;
      const heard = nextOf(other, 'shop');
      await store.publish(aPublication(aSession({ generation: 4_711 })));
      expect(await heard).toEqual({ kind: 'changed', merchant: 'shop', generation: 4_711 });
    });

    it('tell every replica that an attempt failed, and nothing about it that could be taken for a fact', async () => {
      const [store, other] = bench().replicas;
      const heard = nextOf(other, 'shop');
      await failOnce(store, 1_500);
      expect(await heard).toEqual({ kind: 'changed', merchant: 'shop' });
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

    it('tell once of a publication that came twice', async () => {
      const [store, other] = bench().replicas;
      const leased = await lease(store);
      const offer = aPublication(aSession({ generation: leased.fence + 1 }));
      const heard = await heardDuring(other, async () => {
        await store.publish(publicationOf(leased), leased);
        await store.publish(publicationOf(leased), leased);
        await store.publish(offer);
        await store.publish(offer);
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
        await enrol(store, 'shop');
        const leased = await lease(store);
        await store.publish(aPublication(aSession({ generation: leased.fence - 1 })));
        const older = { ...leased, fence: leased.fence - 2 };
        await store.publish(publicationOf(older), older);
        await store.release(leased, { called: false, nextDueInMs: LONG_MS });
      });
      expect(heard).toEqual([]);
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
