import { operationWarnings } from './gateway-rules.js';

const warnings = (baseUrl: string): readonly string[] =>
  operationWarnings('merchants[0].gateway', { baseUrl: new URL(baseUrl) }).map(({ path }) => path);

describe('a baseUrl with part of an operation in its path', () => {
  it.each(['/api-gateway', '/api-gatway/', '/v1/authorize_virtual_devise', '/ecom/execute-request'])(
    'is warned of: %s',
    (path) => expect(warnings(`https://bank.example${path}`)).toEqual(['merchants[0].gateway.baseUrl']),
  );

  it.each(['', '/', '/session', '/api', '/gateway', '/ecom'])('is not suspected: %s', (path) =>
    expect(warnings(`https://bank.example${path}`)).toEqual([]),
  );
});
