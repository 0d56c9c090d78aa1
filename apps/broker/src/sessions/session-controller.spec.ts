import type { FastifyReply, FastifyRequest } from 'fastify';
import { SessionReplica } from '#libs/session';
import { MemorySessionStore } from '#libs/store';
import { FakeClock, FakeGateway, RecordedEvents, someSettings } from '#libs/testing';
import { etagOf } from './session-answer.js';
import type { StandingAccess } from '../auth/policy-table.js';
import type { ConfiguredMerchants } from '../renewal/configured-merchants.js';
import type { RequestLife } from '../http/request-life.js';
import type { SessionReads } from './session-reads.js';
import type { MerchantRoute } from '../http/merchant-route.js';
import { SessionController } from './session.controller.js';

const LIFETIME_MS = 60_000;

class Answer {
  status = 0;
  fields: Readonly<Record<string, unknown>> = {};

  code(status: number): this {
    this.status = status;
    return this;
  }

  headers(fields: Readonly<Record<string, unknown>>): this {
    this.fields = fields;
    return this;
  }

  send(): void {
    // What it says is proven elsewhere.
  }
}

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
  readonly #controller = new SessionController(
    this.replica,
    { renewalWaitMs: () => 7_000 } as unknown as ConfiguredMerchants,
    { signalFor: () => new AbortController().signal } as unknown as RequestLife,
    { served: () => undefined, unavailable: () => undefined } as unknown as SessionReads,
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
  async wait(seconds: number): Promise<Answer | Error> {
    const headers = { prefer: `wait=${seconds}`, 'if-none-match': etagOf(this.generation()) };
    const request = { params: { merchant: 'shop' }, query: {}, headers } as unknown as FastifyRequest<MerchantRoute>;
    const answer = new Answer();
    try {
      await this.#controller.getSession(request, answer as unknown as FastifyReply);
      return answer;
    } catch (error) {
      return error as Error;
    }
  }
}

describe('a wait for the next session', () => {
  it('that ends while the session lives says that it is unchanged', async () => {
    const stage = await Stage.started();
    const answer = stage.wait(10);
    await stage.clock.advance(10_000);
    expect(await answer).toMatchObject({ status: 304, fields: { 'preference-applied': 'wait=10' } });
  });

  it('that ends after the session has ended is refused like any read, and told when to come again', async () => {
    const stage = await Stage.started();
    stage.gateway.answerAlways({ kind: 'refused', detail: 'no such merchant' });
    await stage.clock.advance(25_000);
    const answer = stage.wait(60);
    await stage.clock.advance(60_000);
    expect(await answer).toMatchObject({ code: 'session_unavailable', retryAfterMs: expect.any(Number) });
  });
});
