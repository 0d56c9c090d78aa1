import { BrokerError } from '#libs/errors';
import { aSession, FakeClock } from '#libs/testing';
import type { Offer, OfferResult, SessionStore } from './ports/session-store.js';
import { UnpublishedSessions, type UnpublishedSession } from './unpublished-sessions.js';

interface Asked {
  readonly offer: Offer;
  readonly answer: (result: OfferResult) => void;
  readonly fail: (error: Error) => void;
}

const taken = (generation: number): OfferResult => ({ kind: 'taken', generation, isContested: false });
const refused = (generation: number): OfferResult => ({ kind: 'refused', generation, isContested: true });

function offering() {
  const clock = new FakeClock();
  const asked: Asked[] = [];
  const answers: OfferResult[] = [];
  const broken: unknown[] = [];
  let kept = 0;
  const store = {
    offer: (offer: Offer) => new Promise((answer, fail) => asked.push({ offer, answer, fail })),
  } as unknown as SessionStore;
  const unpublished = new UnpublishedSessions({
    store,
    clock,
    onAnswer: (_offered, answer) => answers.push(answer),
    onKept: () => (kept += 1),
    onBroken: (error) => broken.push(error),
  });
  return { clock, asked, answers, broken, unpublished, kept: () => kept };
}

const made = (generation: number, merchant = 'shop'): UnpublishedSession => ({
  session: aSession({ merchant, generation }),
  answeredAtMs: 0,
  known: generation - 1,
});

describe('sessions that the store has not', () => {
  it('are offered with the age that they have at the offer, and the rest until they are due', async () => {
    const { clock, asked, answers, unpublished } = offering();
    unpublished.keep(made(20));
    await clock.advance(100_000);
    const offered = unpublished.offerAll();
    expect(asked[0]?.offer).toEqual({
      session: aSession({ generation: 20 }),
      ageMs: 100_000,
      nextDueInMs: 620_000,
      known: 19,
    });
    asked[0]?.answer(taken(20));
    await offered;
    expect(answers).toEqual([taken(20)]);
    await unpublished.offerAll();
    expect(asked).toHaveLength(1);
  });

  it('are due at once when their renewal is overdue', async () => {
    const { clock, asked, unpublished } = offering();
    unpublished.keep(made(20));
    await clock.advance(800_000);
    void unpublished.offerAll();
    expect(asked[0]?.offer.nextDueInMs).toBe(0);
  });

  it('are kept when they are newer than what is kept', () => {
    const { unpublished, kept } = offering();
    unpublished.keep(made(20));
    unpublished.keep(made(20));
    unpublished.keep(made(19));
    expect(kept()).toBe(1);
    unpublished.keep(made(21));
    expect(kept()).toBe(2);
  });

  it('are offered again when the store was not heard, and its failure is thrown on', async () => {
    const { asked, broken, unpublished } = offering();
    unpublished.keep(made(20));
    const first = unpublished.offerAll();
    expect(unpublished.offerAll()).toBe(first);
    asked[0]?.fail(new BrokerError('store_unavailable'));
    await expect(first).rejects.toMatchObject({ code: 'store_unavailable' });
    const second = unpublished.offerAll();
    expect(asked).toHaveLength(2);
    asked[1]?.answer(taken(20));
    await second;
    expect(broken).toEqual([]);
  });

  it('are given up one by one when a bug of ours fails them', async () => {
    const { asked, answers, broken, unpublished } = offering();
    unpublished.keep(made(20));
    unpublished.keep(made(30, 'kiosk'));
    const offered = unpublished.offerAll();
    asked[0]?.fail(new Error('a bug, on purpose'));
    asked[1]?.answer(taken(30));
    await offered;
    expect(broken).toEqual([new Error('a bug, on purpose')]);
    expect(answers).toEqual([taken(30)]);
    await unpublished.offerAll();
    expect(asked).toHaveLength(2);
  });

  it('are kept again at once after a bug, and after a second one in a second: their store would have them offered without end', async () => {
    const { clock, asked, unpublished, kept } = offering();
    const offerInVain = async (): Promise<void> => {
      unpublished.keep(made(20));
      const offered = unpublished.offerAll();
      asked.at(-1)?.fail(new Error('a bug, on purpose'));
      await offered;
    };
    await offerInVain();
    await offerInVain();
    expect(kept()).toBe(2);
    await clock.advance(999);
    unpublished.keep(made(20));
    expect(kept()).toBe(2);
    await clock.advance(1);
    unpublished.keep(made(20));
    expect(kept()).toBe(3);
  });

  it('stay when a newer one was made while the store was asked', async () => {
    const { asked, unpublished } = offering();
    unpublished.keep(made(20));
    const first = unpublished.offerAll();
    unpublished.keep(made(21));
    asked[0]?.answer(taken(20));
    await first;
    void unpublished.offerAll();
    expect(asked[1]?.offer.session.generation).toBe(21);
  });

  it('are not offered when they were forgotten meanwhile, and eight at once otherwise', async () => {
    const { clock, asked, unpublished } = offering();
    for (let index = 0; index < 10; index += 1) unpublished.keep(made(20, `m${index}`));
    void unpublished.offerAll();
    expect(asked).toHaveLength(8);
    unpublished.forget('m8');
    asked[0]?.answer(taken(20));
    await clock.settle();
    expect(asked.map(({ offer }) => offer.session.merchant).slice(8)).toEqual(['m9']);
  });

  it('are not kept again for five seconds after they were refused, unless they are newer or forgotten', async () => {
    const { clock, asked, unpublished, kept } = offering();
    unpublished.keep(made(20));
    const offered = unpublished.offerAll();
    asked[0]?.answer(refused(25));
    await offered;
    unpublished.keep(made(20));
    unpublished.keep(made(19));
    await clock.advance(4_999);
    unpublished.keep(made(20));
    expect(kept()).toBe(1);
    await clock.advance(1);
    unpublished.keep(made(20));
    expect(kept()).toBe(2);
    unpublished.keep(made(21));
    expect(kept()).toBe(3);
  });

  it('are kept at once after a refusal that was forgotten with the merchant', async () => {
    const { asked, unpublished, kept } = offering();
    unpublished.keep(made(20));
    const offered = unpublished.offerAll();
    asked[0]?.answer(refused(25));
    await offered;
    unpublished.forget('shop');
    unpublished.keep(made(20));
    expect(kept()).toBe(2);
  });
});
