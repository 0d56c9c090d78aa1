import { plusMs, type ScheduledTask, toRfc3339 } from '#libs/clock';
import { BrokerError } from '#libs/errors';
import { endedAfterEach, eventually, FakeClock, LoopbackServer } from '#libs/testing';
import { AcceptedToken } from './accepted-token.js';
import type { BrokerPlace } from './broker-place.js';
import { FollowedReplica } from './followed-replica.js';
import { FollowState } from './follow-state.js';
import type { ListedMerchant } from './listed-merchant.js';
import type { Notice } from './notice.js';
import { StatusLook } from './status-look.js';

const LOOK_MS = 5_000;
const NO_ANSWER_MS = 10_000;
const WELL: ListedMerchant = { id: 'shop', state: 'fresh', condition: 'fresh', reason: 'current', renewing: false };

/** Counts how many looks have ended: each ends by scheduling the next one. */
class LookClock extends FakeClock {
  looksAskedFor = 0;

  override schedule(delayMs: number, task: () => void): ScheduledTask {
    if (delayMs === LOOK_MS) this.looksAskedFor += 1;
    return super.schedule(delayMs, task);
  }
}

describe('what is told while the replica that is followed does not answer', () => {
  const started = endedAfterEach();
  const clock = new LookClock();
  let hungUp: object[] = [];
  let askedOther = 0;
  let token: BrokerPlace['token'];
  let ofOther: ListedMerchant = WELL;
  let told: string[] = [];
  let facts: object[] = [];
  let server: LoopbackServer;
  let other: LoopbackServer;
  let replica: FollowedReplica;
  let state: FollowState;
  let statusLook: StatusLook;

  beforeEach(async () => {
    [told, facts, hungUp, askedOther] = [[], [], [], 0];
    token = () => Promise.resolve(undefined);
    server = await LoopbackServer.http((_request, response) => void hungUp.push(response));
    other = await LoopbackServer.http((_request, response) => {
      askedOther += 1;
      response.end(JSON.stringify({ merchants: [ofOther] }));
    });
    for (const one of [server, other]) started.add(one, (it) => it.close());
    const urls = [server, other].map(({ port }) => new URL(`http://127.0.0.1:${port}`)) as [URL, URL];
    replica = new FollowedReplica(urls);
    state = new FollowState(clock);
    state.note({ type: 'following', mode: 'events' });
    const parts = {
      broker: { urls, token: () => token(), hasToken: false, ca: undefined },
      ...{ merchant: 'shop', replica, state, accepted: new AcceptedToken(), clock },
      signal: started.add(new AbortController(), (it) => it.abort()).signal,
      tell: ({ event, words, facts: more }: Notice) => {
        told.push(words);
        facts.push({ event, ...more });
      },
    };
    statusLook = started.add(new StatusLook(parts), (it) => it.close());
  });

  async function lookInVain(): Promise<void> {
    const [before, asked] = [clock.looksAskedFor, hungUp.length];
    await clock.advance(LOOK_MS);
    await eventually(() => hungUp.length > asked);
    await clock.advance(NO_ANSWER_MS);
    await eventually(() => clock.looksAskedFor > before);
  }

  it('is that another one serves the merchant, which is followed from then on', async () => {
    const turn = state.begin();
    state.note({ type: 'following', mode: 'events' });
    state.isNew({ generation: 7 });
    ofOther = { ...WELL, generation: 7 };
    const [hung, serving] = [server, other].map(({ port }) => `http://127.0.0.1:${port}`);
    await lookInVain();
    expect(told).toEqual([
      expect.stringMatching(
        new RegExp(
          `^${serving} serves the merchant, while another one does not:\n${hung}: no answer in time\nWhat to do: `,
        ),
      ),
    ]);
    expect(facts).toMatchObject([
      {
        event: 'broker',
        answers: true,
        servedBy: serving,
        replicas: [{ place: hung, error: { code: 'no_answer' } }],
      },
    ]);
    expect([turn.aborted, `${replica.url.origin}`]).toEqual([true, serving]);
  });

  it('is one that holds an older session told once, and not followed', async () => {
    const turn = state.begin();
    state.note({ type: 'following', mode: 'events' });
    state.isNew({ generation: 7 });
    ofOther = { ...WELL, generation: 6 };
    await lookInVain();
    await lookInVain();
    expect([told.length, turn.aborted]).toEqual([1, false]);
  });

  it('is what is the matter with it, and since when its stream has been silent, where no other one has the merchant', async () => {
    ofOther = { ...WELL, id: 'till' };
    const silentSince = toRfc3339(clock.now());
    await lookInVain();
    const place = `http://127.0.0.1:${server.port}`;
    expect(told).toEqual([
      expect.stringContaining(
        `Nothing is seen of the merchant, and its stream, which is open still, has been silent since ${silentSince.slice(11, 19)} UTC: ${place}: no answer in time`,
      ),
    ]);
    expect(facts).toMatchObject([
      { event: 'broker', answers: false, streamOpen: false, streamSilentSince: silentSince, replicas: [{ place }] },
    ]);
  });

  it('is that its sessions come all the same where its stream is heard of', async () => {
    ofOther = { ...WELL, id: 'till' };
    const [before, asked] = [clock.looksAskedFor, hungUp.length];
    await clock.advance(LOOK_MS + 1);
    await eventually(() => hungUp.length > asked);
    state.heard();
    await clock.advance(NO_ANSWER_MS);
    await eventually(() => clock.looksAskedFor > before);
    expect(facts).toMatchObject([{ event: 'broker', answers: false, streamOpen: true }]);
  });

  it('is no promise of sessions where there is no token to ask with any more, either', async () => {
    ofOther = { ...WELL, id: 'till' };
    const look = async (): Promise<void> => {
      const before = clock.looksAskedFor;
      await clock.advance(LOOK_MS);
      await eventually(() => clock.looksAskedFor > before);
    };
    await server.close();
    await look();
    token = () => Promise.reject(new BrokerError('invalid_request', { publicDetail: 'no token' }));
    await look();
    await look();
    expect(facts).toMatchObject([
      { event: 'broker', streamOpen: false },
      { event: 'credential', streamOpen: false },
    ]);
  });

  describe('when its session ends', () => {
    const TOLD_WITHIN_MS = 2_000;

    async function endSession(): Promise<void> {
      const expiresAt = toRfc3339(plusMs(clock.now(), 1_000));
      statusLook.follow({ merchant: 'shop', generation: 7, expiresAt });
      await clock.advance(1_000);
      await eventually(() => hungUp.length === 1 && askedOther === 1);
      await clock.advance(TOLD_WITHIN_MS);
      await eventually(() => told.length > 0);
    }

    it('is that it has expired, within two seconds of its end, and that nothing more is seen', async () => {
      ofOther = { ...WELL, id: 'till' };
      await endSession();
      expect(told).toEqual(['expired; whether a newer session has come is not seen: no answer in time']);
      expect(facts).toMatchObject([{ event: 'expired', generation: 7, merchantSeen: false }]);
    });

    it('is what another replica says of the merchant by then', async () => {
      const ended = { state: 'unavailable', condition: 'unavailable', reason: 'expired', generation: 7 };
      ofOther = { ...WELL, ...ended, cause: 'the bank refuses', runbook: 'access-refused' };
      await endSession();
      expect(told).toEqual(['expired: the bank refuses (runbook: access-refused)']);
    });
  });
});
