import { SystemClock } from '#libs/clock';
import { endedAfterEach, LoopbackServer } from '#libs/testing';
import { runCli } from '../program.js';

interface Answered {
  readonly status: number;
  readonly body: object;
}

const fresh = {
  id: 'shop',
  state: 'fresh',
  condition: 'fresh',
  reason: 'current',
  renewing: false,
  generation: 7,
  expiresAt: '2126-11-23T12:00:00.000Z',
  renewAt: '2126-11-23T11:00:00.000Z',
};
const quiet = {
  quietSince: '2026-11-23T11:00:00.000Z',
  cause: 'no consumer has reported a dead session to this replica for 9 min; somebody else may still create sessions',
  runbook: 'foreign-authorizer',
};
const refusal = (reason: string, cause: string): Answered => ({
  status: 503,
  body: { code: 'session_unavailable', reason, cause },
});

describe('what renew says', () => {
  const started = endedAfterEach();

  /** Runs against a simulated broker: what it answers to the request, and what it lists after that. */
  async function renew(
    { status, body }: Answered,
    list: object,
    ...more: readonly string[]
  ): Promise<{ code: number; lines: readonly string[] }> {
    const server = started.add(
      await LoopbackServer.http((request, response) => {
        const isWish = request.method === 'POST';
        response.statusCode = isWish ? status : 200;
        response.end(JSON.stringify(isWish ? body : list));
      }),
      (it) => it.close(),
    );
    const said: string[] = [];
    const out = (text: string): void => void said.push(text);
    const code = await runCli(['renew', '--merchant', 'shop', '--url', `http://127.0.0.1:${server.port}`, ...more], {
      terminal: { out, err: out },
      environment: {},
      signal: new AbortController().signal,
      clock: new SystemClock(),
    });
    return { code, lines: said.join('\n').split('\n') };
  }

  it('sends nobody after what spends the calls where failed attempts have spent them, and says when it is asked for again', async () => {
    const failed = { condition: 'failing', runbook: 'access-refused', cause: 'the answer is sealed to another key' };
    const lastFailure = { kind: 'invalid_response', at: '2026-11-23T11:00:00.000Z' };
    const noCall = 'no call was made: all 20 create calls of 10 min are spent; the next one is free at 11:59:24 UTC';
    const wish = refusal('budget_exhausted', `${noCall}, and this replica asks again then`);
    const retryAt = '2126-11-23T11:59:23.400Z';
    const { code, lines } = await renew(wish, { merchants: [{ ...fresh, ...failed, lastFailure, retryAt }] });
    expect(lines).toEqual([
      `Not renewed shop: ${noCall}, and this replica asks again then [HTTP 503, session_unavailable]`,
      expect.stringMatching(
        /^The session that there is is served on until 2126-11-23T12:00:00.000Z; next attempt in \d+d \d+h$/,
      ),
      'What to do: if what ended the last attempt is fixed, wait: it will be asked for again by this replica at 2126-11-23 11:59:24 UTC. Otherwise go on with runbook: access-refused',
    ]);
    expect(code).toBe(4);
    const { lines: others } = await renew(wish, { merchants: [{ ...fresh, condition: 'held_back', retryAt }] });
    expect(others.at(-1)).toBe(
      'What to do: find out what spends the calls (runbook: budget-exhausted); it will be asked for again by this replica at 2126-11-23 11:59:24 UTC',
    );
    const { lines: unlisted } = await renew(wish, {});
    expect(unlisted.at(-1)).toMatch(/; it will be asked for again by this replica when a call is free$/);
  });

  it.each([
    ['foreign_authorizer', 'ended by others again and again, and served on'],
    ['reported_dead', 'reported dead by consumers, and served on'],
    ['likely_dead', 'very likely dead, and served on'],
    ['unshared', 'at this replica alone, and served on'],
    ['held_back', 'served on'],
  ])('says of a session with which payments may fail that it does, before until when: %s', async (condition, how) => {
    const { lines } = await renew(refusal('budget_exhausted', 'no call was made'), {
      merchants: [{ ...fresh, condition }],
    });
    expect(lines[1]).toMatch(new RegExp(`^The session that there is is ${how} until 2126-11-23T12:00:00.000Z; `));
  });

  it('says of the next attempt whether it comes only after the session has ended', async () => {
    const lastFailure = { kind: 'refused', at: '2026-11-23T11:00:00.000Z' };
    const failed = { ...fresh, condition: 'failing', runbook: 'access-refused', lastFailure };
    const wish = refusal('budget_exhausted', 'the bank refuses: all 20 create calls of 10 min are spent');
    const told = async (shop: object): Promise<string | undefined> =>
      (await renew(wish, { merchants: [{ ...failed, ...shop }] })).lines.at(-1);
    const again =
      'What to do: when what ended the last attempt is fixed and a call is free, ask again: by itself the next attempt comes';
    const otherwise = '. Otherwise go on with runbook: access-refused';
    expect(await told({ retryAt: '2126-11-23T12:03:00.000Z' })).toBe(
      `${again} at 2126-11-23 12:03:00 UTC, after the end of this session${otherwise}`,
    );
    expect(await told({ retryAt: '2126-11-23T12:03:00.000Z', state: 'unavailable' })).toBe(
      `${again} at 2126-11-23 12:03:00 UTC${otherwise}`,
    );
    expect(await told({})).toBe(`${again} later${otherwise}`);
  });

  it('has for programs the runbook of a refusal, and when the next attempt comes', async () => {
    const retryAt = '2126-11-23T11:30:00.000Z';
    const wish = refusal('budget_exhausted', 'no call was made');
    const { lines } = await renew(wish, { merchants: [{ ...fresh, condition: 'held_back', retryAt }] }, '--json');
    expect(JSON.parse(lines.join('\n'))).toMatchObject({
      ok: false,
      merchant: 'shop',
      place: expect.stringMatching(/^http:/) as string,
      error: {
        code: 'session_unavailable',
        message: 'no call was made',
        status: 503,
        reason: 'budget_exhausted',
        remedy: 'find out what spends the calls (runbook: budget-exhausted), then ask again',
        runbook: 'budget-exhausted',
      },
      expiresAt: fresh.expiresAt,
      renewAt: fresh.renewAt,
      retryAt,
    });
  });

  it("names what the bank's support asks for where the last attempt has it, and the merchant is not well", async () => {
    const lastFailure = { kind: 'refused', gatewayRequestId: 'f1c7e2a0', at: '2026-11-23T11:00:00.000Z' };
    const failing = {
      ...fresh,
      condition: 'failing',
      cause: 'the bank refuses',
      runbook: 'access-refused',
      lastFailure,
    };
    const wish = refusal('refused', 'the bank refuses: b_merchant_not_found');
    const { lines } = await renew(wish, { merchants: [failing] });
    expect(lines.slice(-2)).toEqual([
      "For the bank's support: the last attempt for shop has the gatewayRequestId f1c7e2a0",
      'What to do: go on with runbook: access-refused',
    ]);
    const told = await renew(wish, { merchants: [failing] }, '--json');
    expect(JSON.parse(told.lines.join('\n'))).toMatchObject({ error: { gatewayRequestId: 'f1c7e2a0' } });
    const { lines: ofWell } = await renew(wish, { merchants: [{ ...fresh, lastFailure }] });
    expect(ofWell.join('\n')).not.toContain('f1c7e2a0');
  });

  it('says of a session that is new already when to ask again', async () => {
    const body = { result: 'just_renewed', generation: 7, retryInSeconds: 4 };
    const list = { merchants: [fresh] };
    expect((await renew({ status: 200, body }, list)).lines[0]).toBe(
      'session     of shop is new already: it was created within the last ten seconds; ask again in 4 s for another one',
    );
    const { lines } = await renew({ status: 200, body }, list, '--json');
    expect(JSON.parse(lines.join('\n'))).toMatchObject({ result: 'just_renewed', retryInSeconds: 4 });
    const old = await renew({ status: 200, body: { ...body, retryInSeconds: undefined } }, list);
    expect(old.lines[0]).toMatch(/within the last ten seconds$/);
  });

  it('says of what it has created that the store has not taken it, and ends as one that is not well', async () => {
    const text = 'the store has not taken the newest session, which this replica alone has';
    const unshared = { ...fresh, condition: 'unshared', cause: text, runbook: 'store-down' };
    const { lines, code } = await renew(
      { status: 200, body: { result: 'renewed', generation: 7 } },
      { merchants: [unshared] },
    );
    expect(lines[0]).toBe('session     of shop was created');
    expect(lines.at(-1)).toBe(`but         ${text} (runbook: store-down)`);
    expect(code).toBe(4);
  });

  it('says of what it has created that somebody else who creates may end it again, and ends as one that was created', async () => {
    const body = { result: 'renewed', generation: 7 };
    const note =
      'note        somebody else created sessions of the merchant, and may end this one, too (runbook: foreign-authorizer)';
    const watched = { ...fresh, state: 'foreign_authorizer', condition: 'watched', cause: 'payments failed' };
    for (const result of ['renewed', 'just_renewed']) {
      const { code, lines } = await renew({ status: 200, body: { ...body, result } }, { merchants: [watched] });
      expect([code, lines.at(-1)]).toEqual([0, note]);
    }
    const otherKey = { ...watched, cause: 'another replica asked', runbook: 'unopenable-records' };
    expect((await renew({ status: 200, body }, { merchants: [otherKey] })).lines.at(-1)).toBe(
      'note        another replica asked (runbook: unopenable-records)',
    );
    const ended = { ...watched, condition: 'foreign_authorizer' };
    expect((await renew({ status: 200, body }, { merchants: [ended] })).lines.at(-1)).toBe(note);
    for (const merchants of [[fresh], [{ ...fresh, condition: 'failing', cause: 'refused' }], []]) {
      const { code, lines } = await renew({ status: 200, body }, { merchants });
      expect([code, lines.at(-1)]).toEqual([0, 'client key  undefined']);
    }
  });

  it('names the reason of a store that refuses and its runbook, whatever note the merchant has', async () => {
    const wish = refusal('store_refuses', 'the store refuses what it is asked, so that no session can be created');
    const shop = { ...fresh, ...quiet, renewalBlocked: true };
    const { code, lines } = await renew(wish, { store: 'refuses', storeReason: 'OOM', merchants: [shop] });
    expect(lines).toEqual([
      'Not renewed shop: the store refuses what it is asked, so that no session can be created [HTTP 503, session_unavailable]',
      'The store refuses (OOM): it has no memory left; sessions are served from memory, and nothing is renewed. Raise its maxmemory, or free memory (runbook: store-down).',
      'The session that there is is served on until 2126-11-23T12:00:00.000Z; nothing is renewed',
      'What to do: go on with runbook: store-down',
    ]);
    expect(code).toBe(4);
  });

  it('ends by the store that is away, and not by an address that was wrong before', async () => {
    const failed = { condition: 'unavailable', state: 'unavailable', renewalBlocked: true };
    const lastFailure = { kind: 'transient', wrongAddress: true, at: '2026-11-23T11:00:00.000Z' };
    const merchants = [{ ...fresh, ...failed, lastFailure }];
    expect((await renew(refusal('store_silent', 'no answer'), { store: 'silent', merchants })).code).toBe(4);
    expect((await renew(refusal('transient', 'no TLS is spoken there'), { merchants })).code).toBe(2);
  });

  it('does not take the note of a merchant that looks well for what refused the wish', async () => {
    const { lines } = await renew(refusal('budget_exhausted', 'no call was made'), {
      merchants: [{ ...fresh, ...quiet }],
    });
    expect(lines.at(-1)).toBe('What to do: find out what spends the calls (runbook: budget-exhausted), then ask again');
  });
});
