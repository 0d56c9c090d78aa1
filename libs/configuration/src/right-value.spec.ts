import { ConfigurationError } from './fault.js';
import { parseConfiguration } from './parse-configuration.js';

const BASE_URL = 'https://gateway.example';

function problemOf(gateway: object, session: object = {}): string | undefined {
  const merchant = { id: 'shop', serviceCode: '137d9304-0368-11ed-b939-0242ac120002', clientKeyFiles: ['a'] };
  const merchants = [{ ...merchant, gateway: { baseUrl: BASE_URL, ...gateway }, session }];
  try {
    parseConfiguration(JSON.stringify({ merchants }), {});
    return undefined;
  } catch (error) {
    if (error instanceof ConfigurationError) return error.faults.map(({ problem }) => problem).join();
    throw error;
  }
}

describe('a value of which it is plain what was meant', () => {
  it.each([
    [5, '5s'],
    ['5', '5s'],
    [5_000, '5s'],
    ['1500', '1500ms'],
    ['5sec', '5s'],
    ['5 s', '5s'],
    ['0m30s', '30s'],
    ['250 ms', '250ms'],
  ])('is told with its unit: a timeout of %j', (timeout, meant) => {
    const expects = 'must be a duration from 100ms to 60s, such as 90s, 15m or 2h';
    expect(problemOf({ timeout })).toBe(`${expects}; write ${meant}`);
  });

  it('is told in one unit: 1m30s', () => {
    expect(problemOf({}, { safetyMargin: '1m30s' })).toMatch(/; write 90s$/);
  });

  it('is told without a word of quotes where there are none', () => {
    const calls = (value: unknown): string | undefined => problemOf({}, { budget: [{ calls: value, per: '10m' }] });
    expect(calls(99_999)).toMatch(/must be a whole number from \d+ to \d+$/);
    expect(calls('9')).toMatch(/, without quotes$/);
  });

  it('is told with its unit: a lead time', () => {
    expect(problemOf({}, { renewBefore: 90 })).toMatch(/; write 90s$/);
    expect(problemOf({}, { renewBefore: 20 })).toMatch(/; write 20% or 20s$/);
    expect(problemOf({}, { renewBefore: 0.2 })).toMatch(/; write 20%$/);
    expect(problemOf({}, { renewBefore: '0.07' })).toMatch(/; write 7%$/);
    expect(problemOf({}, { renewBefore: 0.7 })).not.toMatch(/write/);
  });

  it.each([0, -5, 0.5, 1e9, '5 x', '1m30s', 's5', 'soon'])(
    'is not guessed where no unit makes it right: %j',
    (timeout) => {
      expect(problemOf({ timeout })).not.toContain('write');
    },
  );

  it.each([
    ['/api-gateway/authorize_virtual_device', ''],
    ['/shop/api-gateway/authorize_virtual_device/', '/shop'],
    ['/ecom/execute_request/hpp/v1/create-order', ''],
    ['/cipher/encrypt_by_jwk', ''],
  ])('is told without the path of an operation: %s', (path, rest) => {
    const sentence = 'must not have the path of an operation, which is added to it; write';
    expect(problemOf({ baseUrl: BASE_URL + path })).toBe(`${sentence} ${BASE_URL}${rest}`);
  });

  it.each(['gw.bank.test', 'gw-1.bank.example:8443'])('is told with a scheme: %s', (baseUrl) => {
    const expects = 'must be an http or https URL without user, query or fragment';
    expect(problemOf({ baseUrl })).toBe(`${expects}; write https://${baseUrl}`);
  });

  it.each([
    'gateway',
    'gw.bank.test/x?y',
    'eyJhbGciOiJ.eyJzdWIi.c2VjcmV0',
    '0b7ad9ab.5ecc',
    'ftp://gw.bank.test',
    'u:p@gw.test',
  ])('is not repeated where it may be anything else: %s', (baseUrl) =>
    expect(problemOf({ baseUrl })).toMatch(/ or fragment$/),
  );

  it.each([
    ['prod', 'production'],
    ['Test', 'test'],
    ['prodution', 'production'],
  ])('is told with the word that it is nearly: %s', (environment, meant) => {
    expect(problemOf({ environment })).toBe(`must be one of production, test; did you mean ${meant}?`);
  });

  it.each(['staging', 'te', 'x'])('is not guessed where it is near to no word: %s', (environment) => {
    expect(problemOf({ environment })).toBe('must be one of production, test');
  });

  it.each(['/', '/shop', '/api-gateway', '/ecom'])('may have a path of its own: %s', (path) => {
    expect(problemOf({ baseUrl: BASE_URL + path })).toBeUndefined();
  });
});
