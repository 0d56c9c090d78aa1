import { aSessionDocument as aDocument, FakeClock, json, problem, ScriptedBroker } from '../../testing/src/index.js';
import { clientOf } from '../fixtures/client-of.js';
import { Unauthenticated } from './errors.js';
import type { SessionBrokerOptions } from './options.js';
import { SessionBroker } from './session-broker.js';

describe('the credential', () => {
  let server: ScriptedBroker;
  let broker: SessionBroker;

  const open = (auth?: SessionBrokerOptions['auth']): SessionBroker => {
    broker = clientOf(server, new FakeClock(), { auth });
    return broker;
  };
  const sent = (): (string | undefined)[] => server.requests.map(({ headers }) => headers['authorization']);
  const accepting = (token: string): void => {
    server.on('read', ({ headers }) =>
      headers['authorization'] === `Bearer ${token}` ? json(aDocument()) : problem(401, 'unauthenticated'),
    );
  };

  beforeEach(() => {
    server = new ScriptedBroker().on('read', () => json(aDocument()));
  });
  afterEach(() => broker.close());

  it('is left out where there is none', async () => {
    await open().session();
    expect(sent()).toEqual([undefined]);
  });

  it('comes from a function, sync or not', async () => {
    await open(() => 'sync').session();
    await open(() => Promise.resolve('async')).session();
    expect(sent()).toEqual(['Bearer sync', 'Bearer async']);
  });

  it('is asked for anew, once, when the broker does not accept it', async () => {
    accepting('new');
    const asked: boolean[] = [];
    await open(({ refresh }) => {
      asked.push(refresh);
      return refresh ? 'new' : 'old';
    }).session();
    expect(asked).toEqual([false, true]);
    expect(sent()).toEqual(['Bearer old', 'Bearer new']);
  });

  it('is not sent again when it is still the same', async () => {
    accepting('other');
    await expect(open(() => 'same').session()).rejects.toThrow(Unauthenticated);
    expect(sent()).toEqual(['Bearer same']);
  });

  it('is not sent a third time', async () => {
    accepting('other');
    let count = 0;
    await expect(open(() => `token-${(count += 1)}`).session()).rejects.toMatchObject({
      code: 'unauthenticated',
      status: 401,
    });
    expect(sent()).toEqual(['Bearer token-1', 'Bearer token-2']);
  });

  it('that is fixed is sent once', async () => {
    accepting('other');
    await expect(open('fixed').session()).rejects.toThrow(Unauthenticated);
    expect(sent()).toHaveLength(1);
  });

  it.each(['', 'two words', 'line\nbreak', 'ünïcode', 'x'.repeat(20_000)])(
    'is refused when it is not a token: %#',
    async (token) => {
      expect(() => new SessionBroker({ url: 'http://b.test', merchant: 'shop', auth: token })).toThrow('bearer token');
      await expect(open(() => token).session()).rejects.toMatchObject({ code: 'token_invalid' });
      expect(sent()).toEqual([]);
    },
  );

  it('ends its wait with the call', async () => {
    let seen: AbortSignal | undefined;
    open(({ signal }) => {
      seen = signal;
      return new Promise(() => undefined);
    });
    const leaving = new AbortController();
    const reading = broker.session({ signal: leaving.signal });
    leaving.abort();
    await expect(reading).rejects.toThrow('aborted');
    expect(seen?.aborted).toBe(true);
  });
});
