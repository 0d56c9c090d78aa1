import { aSessionDocument as aDocument, FakeClock, json, problem, ScriptedBroker } from '../../testing/src/index.js';
import { clientOf } from '../fixtures/client-of.js';
import { Unauthenticated } from './errors.js';
import type { SessionBrokerOptions } from './options.js';
import type { SessionBroker } from './session-broker.js';

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

  const changing = ({ refresh }: { readonly refresh: boolean }): string => (refresh ? 'new' : 'old');
  it.each<[string, SessionBrokerOptions['auth'], readonly (string | undefined)[]]>([
    ['is left out where there is none', undefined, [undefined]],
    ['comes from a function', () => 'new', ['Bearer new']],
    ['comes from a function that takes its time', () => Promise.resolve('new'), ['Bearer new']],
    ['is asked for anew, once, when the broker does not accept it', changing, ['Bearer old', 'Bearer new']],
  ])('%s', async (_what, auth, expected) => {
    if (auth !== undefined) accepting('new');
    await open(auth).session();
    expect(sent()).toEqual(expected);
  });

  let count = 0;
  it.each<[string, SessionBrokerOptions['auth'], number]>([
    ['is not sent again when it is still the same', () => 'same', 1],
    ['is not sent a third time', () => `token-${(count += 1)}`, 2],
    ['that is fixed is sent once', 'fixed', 1],
  ])('%s', async (_what, auth, times) => {
    accepting('other');
    await expect(open(auth).session()).rejects.toThrow(Unauthenticated);
    expect(new Set(sent()).size).toBe(times);
    expect(sent()).toHaveLength(times);
  });

  it.each(['', 'two words', 'line\nbreak', 'ünïcode', 'x'.repeat(20_000)])(
    'is refused when it is not a token: %#',
    async (token) => {
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
