import { BrokerError } from '#libs/errors';
import { plusMs } from '#libs/clock';
import { aSession, FakeClock } from '#libs/testing';
import type { Offer, OfferResult, SessionStore } from './ports/session-store.js';
import { type UnpublishedSession, UnpublishedSessions } from './unpublished-sessions.js';

const silent = new BrokerError('store_unavailable');
const refusing = new BrokerError('store_refused');
const broken = new TypeError('a bug of ours');
const taken: OfferResult = { kind: 'taken', generation: 1, isContested: false };

interface Question {
  readonly offer: Offer;
  answer(result?: OfferResult): void;
  fail(error: unknown): void;
}

/** One replica's sessions, and a store whose answers are given by the test. */
class Offerer {
  readonly clock = new FakeClock();
  readonly questions: Question[] = [];
  readonly answers: (readonly [session: UnpublishedSession, answer: OfferResult])[] = [];
  readonly bugs: unknown[] = [];
  wakes = 0;
  readonly sessions = new UnpublishedSessions({
    store: { offer: (offer: Offer) => this.#ask(offer) } as unknown as SessionStore,
    clock: this.clock,
    onAnswer: (offered, answer) => this.answers.push([offered, answer]),
    onKept: () => (this.wakes += 1),
    onBroken: (error) => this.bugs.push(error),
  });

  get asked(): readonly string[] {
    return this.questions.map(({ offer }) => `${offer.session.merchant} ${offer.session.generation}`);
  }

  keep(merchant: string, generation: number, overrides: Parameters<typeof aSession>[0] = {}): UnpublishedSession {
    const session = aSession({ merchant, generation, ...overrides });
    const unpublished = { session, answeredAtMs: this.clock.monotonicMs(), known: generation - 1 };
    this.sessions.keep(unpublished);
    return unpublished;
  }

  async answer(index: number, result = taken): Promise<void> {
    this.questions[index]?.answer(result);
    await this.clock.settle();
  }

  async fail(index: number, error: unknown): Promise<void> {
    this.questions[index]?.fail(error);
    await this.clock.settle();
  }

  #ask(offer: Offer): Promise<OfferResult> {
    return new Promise((answer, fail) => {
      this.questions.push({ offer, answer: (result = taken) => answer(result), fail });
    });
  }
}

function keeping(count: number): Offerer {
  const offerer = new Offerer();
  for (let index = 0; index < count; index += 1) offerer.keep(`m${index}`, 1);
  return offerer;
}

describe('a session that the store has not', () => {
  it('is offered with its age, what its maker knew, and what is left until its renewal', async () => {
    const offerer = new Offerer();
    const { session } = offerer.keep('shop', 7);
    offerer.clock.freeze(20_000);
    const offering = offerer.sessions.offerAll();
    expect(offerer.questions[0]?.offer).toEqual({ session, ageMs: 20_000, nextDueInMs: 700_000, known: 6 });
    await offerer.answer(0);
    await offering;
  });

  it('is due at once when it is offered after its renewal was', () => {
    const offerer = new Offerer();
    offerer.keep('shop', 7, { renewAt: plusMs(aSession().createdAt, 19_999) });
    offerer.clock.freeze(20_000);
    void offerer.sessions.offerAll();
    expect(offerer.questions[0]?.offer.nextDueInMs).toBe(0);
  });

  it.each(['taken', 'refused'] as const)('is offered once, and told of, when it is %s', async (kind) => {
    const offerer = new Offerer();
    const unpublished = offerer.keep('shop', 7);
    const answer = { kind, generation: 9, isContested: true };
    const offering = offerer.sessions.offerAll();
    await offerer.answer(0, answer);
    await offering;
    await offerer.sessions.offerAll();
    expect(offerer.asked).toEqual(['shop 7']);
    expect(offerer.answers).toEqual([[unpublished, answer]]);
    expect(offerer.answers[0]?.[0]).toBe(unpublished);
  });

  it('replaces an older one, and nothing else; the loop that offers is woken for what is kept', async () => {
    const offerer = new Offerer();
    for (const generation of [7, 6, 7, 8]) offerer.keep('shop', generation);
    expect(offerer.wakes).toBe(2);
    const offering = offerer.sessions.offerAll();
    await offerer.answer(0);
    await offering;
    expect(offerer.asked).toEqual(['shop 8']);
  });

  it('is the one that was kept first when two have one generation', () => {
    const offerer = new Offerer();
    offerer.keep('shop', 7, { authToken: 'first' });
    offerer.keep('shop', 7, { authToken: 'second' });
    void offerer.sessions.offerAll();
    expect(offerer.questions[0]?.offer.session.authToken).toBe('first');
  });

  it('is not offered when it was forgotten', async () => {
    const offerer = keeping(2);
    offerer.sessions.forget('m0');
    const offering = offerer.sessions.offerAll();
    expect(offerer.asked).toEqual(['m1 1']);
    await offerer.answer(0);
    await offering;
  });

  it('is not offered when it was forgotten, or replaced, while it waited for a lane', async () => {
    const offerer = keeping(11);
    const offering = offerer.sessions.offerAll();
    offerer.sessions.forget('m8');
    offerer.keep('m9', 2);
    for (let index = 0; index < 9; index += 1) await offerer.answer(index);
    await offering;
    expect(offerer.asked.slice(8)).toEqual(['m10 1']);
    void offerer.sessions.offerAll();
    expect(offerer.asked.slice(9)).toEqual(['m9 2']);
  });
});

describe('an offer under way', () => {
  it('is one of eight, each of which is followed by the next', async () => {
    const offerer = keeping(10);
    void offerer.sessions.offerAll();
    expect(offerer.questions).toHaveLength(8);
    await offerer.answer(5);
    expect(offerer.asked.slice(8)).toEqual(['m8 1']);
    await offerer.answer(8);
    expect(offerer.asked.slice(9)).toEqual(['m9 1']);
  });

  it('is waited for by all who want everything offered', async () => {
    const offerer = keeping(1);
    const first = offerer.sessions.offerAll();
    expect(offerer.sessions.offerAll()).toBe(first);
    await offerer.answer(0);
    await first;
    expect(offerer.questions).toHaveLength(1);
    expect(offerer.sessions.offerAll()).not.toBe(first);
  });

  it('leaves one that was kept meanwhile to be offered next', async () => {
    const offerer = new Offerer();
    const older = offerer.keep('shop', 7);
    const offering = offerer.sessions.offerAll();
    offerer.keep('shop', 8);
    await offerer.answer(0);
    await offering;
    expect(offerer.answers).toEqual([[older, taken]]);
    void offerer.sessions.offerAll();
    expect(offerer.asked).toEqual(['shop 7', 'shop 8']);
  });

  it.each([
    ['silent', silent],
    ['refusing', refusing],
  ])('fails with a store that is %s, and is made again', async (_name, failure) => {
    const offerer = keeping(1);
    const offering = expect(offerer.sessions.offerAll()).rejects.toBe(failure);
    await offerer.fail(0, failure);
    await offering;
    expect([offerer.answers, offerer.bugs]).toEqual([[], []]);
    void offerer.sessions.offerAll();
    expect(offerer.asked).toEqual(['m0 1', 'm0 1']);
  });

  it('does not hold up the others when it fails or hangs', async () => {
    const offerer = keeping(10);
    const offering = expect(offerer.sessions.offerAll()).rejects.toBe(silent);
    await offerer.fail(0, silent);
    for (const index of [2, 3, 8, 9]) await offerer.answer(index);
    expect(offerer.asked.slice(8)).toEqual(['m8 1', 'm9 1']);
    expect(offerer.answers.map(([{ session }]) => session.merchant)).toEqual(['m2', 'm3', 'm8', 'm9']);
    for (const index of [1, 4, 5, 6, 7]) await offerer.answer(index);
    await offering;
  });

  it('is dropped, and reported as a bug, when it fails because of one; the others are offered', async () => {
    const offerer = keeping(10);
    const offering = offerer.sessions.offerAll();
    await offerer.fail(0, broken);
    for (let index = 1; index < 10; index += 1) await offerer.answer(index);
    await offering;
    expect(offerer.bugs).toEqual([broken]);
    expect(offerer.answers).toHaveLength(9);
    await offerer.sessions.offerAll();
    expect(offerer.questions).toHaveLength(10);
  });

  it('that fails because of a bug leaves one that was kept meanwhile', async () => {
    const offerer = new Offerer();
    offerer.keep('shop', 7);
    const offering = offerer.sessions.offerAll();
    offerer.keep('shop', 8);
    await offerer.fail(0, broken);
    await offering;
    void offerer.sessions.offerAll();
    expect(offerer.asked).toEqual(['shop 7', 'shop 8']);
  });
});
