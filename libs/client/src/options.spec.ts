import { InvalidInput } from './errors.js';
import { SessionBroker } from './session-broker.js';

describe('what is given', () => {
  const construct = (options: object): SessionBroker =>
    new SessionBroker({ url: 'https://b.test', merchant: 'shop', ...options });

  it.each([
    ['has white space or a line break in it', 'canary\n'],
    ['is empty', ''],
    ['begins with "Bearer "', 'Bearer canary'],
    ['has white space or a line break in it', 'can ary'],
    ['is longer than 16384 characters', 'x'.repeat(16_385)],
    ['has characters that no token has', 'canäry'],
  ])('as a token is refused with the reason: it %s', (reason, auth) => {
    expect(() => construct({ auth })).toThrow(reason);
    expect(() => construct({ auth })).not.toThrow('canary');
  });

  it('as an option that does not exist is refused without those that only tests have', () => {
    expect(() => construct({ somethingElse: 1 })).toThrow(/traceHeaders, onEvent$/);
  });

  it.each(['merchnat', 'timeout', '__proto__x', 'a canary'])(
    'as an option that does not exist is refused: %s',
    (name) => {
      const says =
        'there are url, merchant, auth, fetch, gateway, follow, handover, minRemainingMs, timeoutMs, traceHeaders, onEvent';
      expect(() => construct({ [name]: 'canary' })).toThrow(InvalidInput);
      expect(() => construct({ [name]: 'canary' })).toThrow(says);
      expect(() => construct({ [name]: 'canary' })).not.toThrow('canary');
    },
  );

  it.each(['false', 0, null])('as a handover that is neither true nor false is refused: %p', (handover) => {
    expect(() => construct({ handover })).toThrow(InvalidInput);
    expect(() => construct({ handover })).toThrow('handover must be true or false');
  });

  it.each(['/v1', '/below/v1/', '/v1/merchants', '/v1/merchants/shop/session'])(
    'as a url too long is refused: %s',
    (path) => {
      expect(() => construct({ url: `https://b.test${path}` })).toThrow('url ends before /v1');
    },
  );

  it.each([undefined, null, ''])('as a url or a merchant that is missing is told as one: %j', (given) => {
    expect(() => construct({ url: given })).toThrow('url is missing: is its environment variable set?');
    expect(() => construct({ merchant: given })).toThrow('merchant is missing: is its environment variable set?');
  });

  it('as an empty token may be a variable that is not set', () => {
    expect(() => construct({ auth: '' })).toThrow(
      'auth is empty, and no bearer token: is its environment variable set?',
    );
  });

  it.each(['shop\n', ' shop'])('as a merchant with white space around it is told as one: %j', (merchant) => {
    expect(() => construct({ merchant })).toThrow('trim what comes from a file');
  });

  it.each(['127.0.0.1:8080', 'localhost:8080', 'broker', 'ftp://broker', 8080])(
    'as a url without its scheme is refused with an example: %s',
    (url) => {
      const says = 'url must be a URL that begins with http:// or https://, such as http://127.0.0.1:8080';
      expect(() => construct({ url })).toThrow(says);
    },
  );

  it.each(['/below', '/v12', '/v1/below'])('as a url with a path where the broker lies is taken: %s', async (path) => {
    await construct({ url: `https://b.test${path}` }).close();
  });

  it('as an option of the wrong kind is refused', () => {
    expect(() => new SessionBroker(undefined as never)).toThrow('The options must be an object, with url, merchant');
    expect(() => construct({ auth: {} })).toThrow('auth must be a token, or a function');
    expect(() => construct({ onEvent: 'log' })).toThrow('onEvent must be a function');
    expect(() => construct({ merchant: 5 })).toThrow('merchant must be the id of a merchant');
  });
});
