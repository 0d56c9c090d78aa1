import type { FastifyReply, FastifyRequest } from 'fastify';
import { SessionReplica } from '#libs/session';
import { MemorySessionStore } from '#libs/store';
import { FakeClock, FakeGateway, RecordedEvents, someSettings } from '#libs/testing';
import { etagOf, type FoundSession } from './session-answer.js';
import type { StandingAccess } from '../auth/standing-access.js';
import type { RenewalWait } from './renewal-wait.js';
import type { RequestLife } from '../http/request-life.js';
import type { SessionReads } from './session-reads.js';
import type { MerchantRoute } from '../http/routes.js';
import { SessionLookup } from './session-lookup.service.js';

const LIFETIME_MS = 60_000;

class Stage {
  readonly clock = new FakeClock();
  readonly gateway = new FakeGateway({ clock: this.clock, lifetimeMs: LIFETIME_MS, latencyMs: 50 });
  readonly replica = new SessionReplica({
    owner: 'replica',
    merchants: { ids: () => ['shop'], settingsOf: () => someSettings(), gatewayIdOf: () => 'gateway' },
    store: new MemorySessionStore({ clock: this.clock }),
    gateway: this.gateway,
    events: new RecordedEvents(),
    clock: this.clock,
    random: () => 0.5,
  });
  readonly #lookup = new SessionLookup(
    this.replica,
    { signalFor: () => new AbortController().signal } as unknown as RequestLife,
    { served: () => undefined, unavailable: () => undefined } as unknown as SessionReads,
    { waitMs: () => 7_000 } as unknown as RenewalWait,
    { throughout: (_request: unknown, _permission: unknown, work: () => Promise<unknown>) => work() } as StandingAccess,
  );

  static async started(): Promise<Stage> {
    const stage = new Stage();
    void stage.replica.tick();
    await stage.clock.advance(1_000);
    return stage;
  }

  generation(): number {
    return this.replica.held.generationOf('shop');
  }

  /** A caller that holds the current session and waits for the next one. */
  wait(seconds: number): Promise<FoundSession | Error> {
    const headers = { prefer: `wait=${seconds}`, 'if-none-match': etagOf(this.generation()) };
    const request = { params: { merchant: 'shop' }, query: {}, headers } as unknown as FastifyRequest<MerchantRoute>;
    return this.#lookup.find(request, {} as FastifyReply).catch((error: unknown) => error as Error);
  }
}

describe('a wait for the next session', () => {
  it('that ends while the session lives says that it is unchanged', async () => {
    const stage = await Stage.started();
    const answer = stage.wait(10);
    await stage.clock.advance(10_000);
    expect(await answer).toMatchObject({ kind: 'unchanged', waitedFor: 10 });
  });

  it('that ends after the session has ended is refused like any read, and told when to come again', async () => {
    const stage = await Stage.started();
    stage.gateway.answerAlways({ kind: 'refused', detail: 'no such merchant' });
    await stage.clock.advance(25_000);
    const answer = stage.wait(60);
    await stage.clock.advance(60_000);
    expect(await answer).toMatchObject({ code: 'session_unavailable', retryAfterMs: expect.any(Number) });
  });

  it('brings the next session when it comes', async () => {
    const stage = await Stage.started();
    const before = stage.generation();
    const answer = stage.wait(60);
    for (let second = 0; second < 60; second += 1) {
      void stage.replica.tick();
      await stage.clock.advance(1_000);
    }
    expect(stage.generation()).toBeGreaterThan(before);
    expect(await answer).toMatchObject({ kind: 'session', session: { generation: stage.generation() } });
  });
});
