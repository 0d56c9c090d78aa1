import type { BrokerConfiguration } from '#libs/configuration';
import { withFixedSettings } from './fixed-settings.js';

const TLS = { cert: 'cert', key: 'key' };

function configuration(changes: {
  http?: object;
  auth?: object;
  audit?: object;
  store?: object;
  management?: object;
  log?: object;
}): BrokerConfiguration {
  const parts = {
    http: { host: '0.0.0.0', port: 8_080, docs: true, maxWatchers: 10, ...changes.http },
    auth: { disabled: false, mtls: false, tokens: [], policies: [], ...changes.auth },
    audit: { destination: 'stdout', readEvery: 10, ...changes.audit },
    store: { type: 'memory', keyPrefix: 'a', ...changes.store },
    management: { host: '127.0.0.1', port: 9_464, ...changes.management },
    log: { level: 'info', ...changes.log },
  };
  return parts as unknown as BrokerConfiguration;
}

describe('settings that are fixed at the start', () => {
  it('stay as they are, and are named as waiting for the next start', () => {
    const start = configuration({});
    const { configuration: next, awaitingRestart } = withFixedSettings(
      start,
      configuration({
        http: { host: '127.0.0.1', port: 1, docs: false },
        auth: { disabled: true, mtls: true },
        audit: { destination: 'none' },
        store: { keyPrefix: 'b' },
        management: { port: 2 },
      }),
    );
    expect(next).toEqual(start);
    expect(awaitingRestart).toEqual([
      'management',
      'store',
      'http.host',
      'http.port',
      'http.docs',
      'auth.disabled',
      'auth.mtls',
      'audit.destination',
    ]);
  });

  it('do not hold up the others', () => {
    const others = { http: { maxWatchers: 11 }, audit: { readEvery: 11 }, log: { level: 'debug' } };
    const { configuration: next, awaitingRestart } = withFixedSettings(configuration({}), configuration(others));
    expect(next).toEqual(configuration(others));
    expect(awaitingRestart).toEqual([]);
  });

  it.each([
    { what: 'another certificate', before: TLS, after: { ...TLS, cert: 'next' }, expected: { ...TLS, cert: 'next' } },
    { what: 'no TLS any more', before: TLS, after: undefined, expected: TLS, waits: true },
    { what: 'TLS from now on', before: undefined, after: TLS, expected: undefined, waits: true },
    { what: 'client certificates', before: TLS, after: { ...TLS, clientCa: 'ca' }, expected: TLS, waits: true },
  ])('with $what: a certificate changes, what the port speaks does not', ({ before, after, expected, waits }) => {
    const { configuration: next, awaitingRestart } = withFixedSettings(
      configuration({ http: before === undefined ? {} : { tls: before } }),
      configuration({ http: after === undefined ? {} : { tls: after } }),
    );
    expect(next.http.tls).toEqual(expected);
    expect(awaitingRestart).toEqual(waits === true ? ['http.tls'] : []);
  });
});
