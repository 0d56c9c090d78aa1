import { createPublicKey } from 'node:crypto';
import { BrokerError } from '#libs/errors';
import { FakeClock, TestIssuer } from '#libs/testing';
import type { Logger } from '#libs/telemetry';
import { JwtVerifier } from './jwt-verifier.js';
import { RemoteKeySet } from './key-set.js';

const { ISSUER, AUDIENCE, SUBJECT } = TestIssuer;

/** An issuer's endpoint that answers what the test says, and a verifier that calls it. */
class Endpoint {
  readonly clock = new FakeClock();
  readonly lines: string[] = [];
  readonly fields: unknown[] = [];
  asked = 0;
  changes = 0;
  answer: () => Promise<object> = () => Promise.reject(new BrokerError('authentication_unavailable'));
  readonly keys: RemoteKeySet;
  readonly #verifier: JwtVerifier;

  constructor() {
    const note = (fields: unknown, line: string): void => {
      this.fields.push(fields);
      this.lines.push(line);
    };
    this.keys = new RemoteKeySet({
      clock: this.clock,
      logger: { warn: note, info: note } as unknown as Logger,
      load: () => {
        this.asked += 1;
        return this.answer();
      },
      onChange: () => void (this.changes += 1),
    });
    this.#verifier = new JwtVerifier(
      { issuer: ISSUER, audience: AUDIENCE, types: [], clockToleranceMs: 0 },
      this.keys,
      this.clock,
    );
  }

  publishes(...issuers: readonly TestIssuer[]): void {
    this.answer = () => Promise.resolve({ keys: issuers.map(({ publicJwk }) => publicJwk) });
  }

  isDown(): void {
    this.answer = () => Promise.reject(new BrokerError('authentication_unavailable'));
  }

  async verdictOn(issuer: TestIssuer): Promise<string> {
    try {
      return (await this.#verifier.verify(issuer.token(this.clock.now()))).caller.name;
    } catch (error) {
      if (!(error instanceof BrokerError)) throw error;
      return 'refusal' in error ? String(error.refusal) : error.code;
    }
  }
}

describe('the keys of an issuer', () => {
  let one: TestIssuer;
  let two: TestIssuer;
  let endpoint: Endpoint;

  beforeAll(() => {
    [one, two] = [new TestIssuer('one'), new TestIssuer('two')];
  });
  beforeEach(() => {
    endpoint = new Endpoint();
  });

  it('are had before the first token when they are fetched ahead, and asked for no second time', async () => {
    endpoint.publishes(one);
    endpoint.keys.fetchAhead();
    endpoint.keys.fetchAhead();
    expect(await Promise.all([endpoint.verdictOn(one), endpoint.verdictOn(one)])).toEqual([SUBJECT, SUBJECT]);
    endpoint.keys.fetchAhead();
    expect([endpoint.asked, endpoint.lines]).toEqual([1, []]);
  });

  it('that cannot be had ahead are told of once, with what that does, and once more when they have come', async () => {
    endpoint.keys.fetchAhead();
    await endpoint.clock.advance(60_000);
    expect(endpoint.lines).toEqual([expect.stringContaining('no token of it is accepted until they come')]);
    expect(endpoint.asked).toBe(3);
    endpoint.publishes(one);
    await endpoint.clock.advance(30_000);
    await endpoint.clock.advance(600_000);
    expect(endpoint.lines.slice(1)).toEqual([expect.stringContaining('had again')]);
    expect(await endpoint.verdictOn(one)).toBe(SUBJECT);
    expect(endpoint.asked).toBe(5);
  });

  it('are not fetched ahead, nor told of, once they are closed', async () => {
    endpoint.keys.fetchAhead();
    endpoint.keys.close();
    await endpoint.clock.advance(60_000);
    expect([endpoint.asked, endpoint.lines]).toEqual([1, []]);
    const closed = new Endpoint();
    closed.keys.close();
    closed.keys.fetchAhead();
    expect(closed.asked).toBe(0);
  });

  it('that cannot be had are an outage, not a refusal, and cost the issuer one request a second at most', async () => {
    expect(await endpoint.verdictOn(one)).toBe('authentication_unavailable');
    expect(await endpoint.verdictOn(one)).toBe('authentication_unavailable');
    expect(endpoint.asked).toBe(1);
    await endpoint.clock.advance(1_000);
    endpoint.publishes(one);
    expect(await endpoint.verdictOn(one)).toBe(SUBJECT);
    expect(endpoint.lines).toEqual([expect.stringContaining('cannot be had'), expect.stringContaining('had again')]);
  });

  it('are asked for again when a token names a new one, at most every half minute', async () => {
    endpoint.publishes(one);
    await endpoint.verdictOn(one);
    expect(await endpoint.verdictOn(two)).toBe('unknown_key');
    expect(endpoint.asked).toBe(1);
    await endpoint.clock.advance(30_000);
    endpoint.publishes(one, two);
    expect(await endpoint.verdictOn(two)).toBe(SUBJECT);
    expect([endpoint.asked, endpoint.changes]).toEqual([2, 1]);
  });

  it('are asked for again every ten minutes, whether anybody calls or not', async () => {
    endpoint.publishes(one);
    await endpoint.verdictOn(one);
    await endpoint.clock.advance(599_000);
    expect(endpoint.asked).toBe(1);
    await endpoint.clock.advance(1_000);
    expect(endpoint.asked).toBe(2);
    await endpoint.clock.advance(6_000_000);
    expect([endpoint.asked, endpoint.changes]).toEqual([12, 0]);
  });

  it('that were taken back are refused once it is known, though nobody calls', async () => {
    endpoint.publishes(one, two);
    await endpoint.verdictOn(one);
    const [oldKey, newKey] = [one, two].map(({ publicJwk }) =>
      createPublicKey({ key: publicJwk, format: 'jwk' }).export({ type: 'spki', format: 'der' }).toString('base64'),
    );
    expect([endpoint.keys.has(oldKey ?? ''), endpoint.keys.has(newKey ?? '')]).toEqual([true, true]);
    endpoint.publishes(two);
    await endpoint.clock.advance(600_000);
    expect([endpoint.keys.has(oldKey ?? ''), endpoint.keys.has(newKey ?? '')]).toEqual([false, true]);
    expect(await endpoint.verdictOn(one)).toBe('unknown_key');
    expect(endpoint.changes).toBe(1);
  });

  it('go on for a day while the issuer is down, and no longer', async () => {
    endpoint.publishes(one);
    await endpoint.verdictOn(one);
    endpoint.isDown();
    await endpoint.clock.advance(600_000 + 300_000);
    // Every half minute.
    expect(endpoint.asked).toBe(12);
    await endpoint.clock.advance(86_400_000 - 900_000);
    expect(await endpoint.verdictOn(one)).toBe(SUBJECT);
    await endpoint.clock.advance(60_000);
    expect(await endpoint.verdictOn(one)).toBe('authentication_unavailable');
    expect(endpoint.lines.filter((line) => line.includes('cannot be had'))).toHaveLength(1);
  });

  it.each([{}, { keys: 1 }, { keys: [1] }])('that are %j are an outage', async (set) => {
    endpoint.answer = () => Promise.resolve(set);
    expect(await endpoint.verdictOn(one)).toBe('authentication_unavailable');
  });

  it('are told of once when none of them can be used, count all the same, and once more when one can', async () => {
    endpoint.publishes(one);
    expect(await endpoint.verdictOn(one)).toBe(SUBJECT);
    endpoint.publishes();
    await endpoint.clock.advance(1_200_000);
    expect(endpoint.lines).toEqual([
      expect.stringContaining('no token of it is accepted, and its callers are answered 401'),
    ]);
    expect(await endpoint.verdictOn(one)).toBe('unknown_key');
    endpoint.publishes(one);
    await endpoint.clock.advance(600_000);
    expect(endpoint.lines.slice(1)).toEqual([expect.stringContaining('can be checked with again')]);
    expect(await endpoint.verdictOn(one)).toBe(SUBJECT);
  });

  it('may come in any state: of a set with a key that makes no sense, the others count', async () => {
    endpoint.answer = () => Promise.resolve({ keys: [{ kty: 'XX', kid: 'odd' }, one.publicJwk] });
    expect(await endpoint.verdictOn(one)).toBe(SUBJECT);
  });
});
