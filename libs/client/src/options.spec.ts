import { aSessionDocument as aDocument, FakeClock, json, ScriptedBroker } from '../../testing/src/index.js';
import { SessionBroker } from './session-broker.js';

describe('the options', () => {
  const construct = (options: object): SessionBroker =>
    new SessionBroker({ url: 'https://b.test', merchant: 'shop', ...options });

  it.each<[string, object]>([
    ['it has white space or a line break in it', { auth: 'canary\n' }],
    ['it begins with "Bearer ": give the token alone', { auth: 'Bearer canary' }],
    ['it has characters that no token has, or too many', { auth: 'canäry' }],
    ['auth is empty, and no bearer token: is its environment variable set?', { auth: '' }],
    ['auth must be a function', { auth: {} }],
    ['There is no option "merchnat": there are url, merchant, auth, fetch, ', { merchnat: 'canary' }],
    ['There is no option of that name: there are url', { 'a canary': 1 }],
    ['url ends before /v1', { url: 'https://b.test/below/v1/' }],
    ['url is missing: is its environment variable set?', { url: undefined }],
    ['url is missing: is its environment variable set?', { url: '' }],
    ['url must be a URL that begins with http:// or https://, such as http://127', { url: 'localhost:8080' }],
    ['url must hold no credential, query or fragment', { url: 'https://b.test/?canary' }],
    ['merchant is missing: is its environment variable set?', { merchant: null }],
    ['trim what comes from a file', { merchant: 'shop\n' }],
    ['follow must be events or none', { follow: 'poll' }],
    ['timeoutMs must be more than 0', { timeoutMs: Number.NaN }],
    ['onEvent must be a function', { onEvent: 'log' }],
  ])('that cannot be used are refused, without their value: %s', (says, options) => {
    expect(() => construct(options)).toThrow(expect.objectContaining({ name: 'InvalidInput' }));
    expect(() => construct(options)).toThrow(says);
    expect(() => construct(options)).not.toThrow('canary');
  });

  it('are an object', () => {
    expect(() => new SessionBroker(undefined as never)).toThrow('The options must be an object, with url, merchant');
  });

  it('may be given as undefined, and put the broker below a path, and a merchant of any name', async () => {
    const server = new ScriptedBroker().on('read', () => json({ ...aDocument(), merchant: 'a/b?' }));
    const unset = { timeoutMs: undefined, onEvent: undefined, gateway: undefined };
    const options = { url: 'http://b.test/v12/', merchant: 'a/b?', follow: 'none', time: new FakeClock() };
    const broker = construct({ ...unset, ...options, fetch: server.fetch });
    await broker.session();
    expect(server.requests[0]?.url).toBe('http://b.test/v12/v1/merchants/a%2Fb%3F/session');
    await broker.close();
  });
});
