import type { BrokerConfiguration } from '#libs/configuration';
import { authoritiesShrank } from './authorities-shrank.js';

const ca = (name: string): string => `-----BEGIN CERTIFICATE-----\n${name}\n-----END CERTIFICATE-----\n`;
const trusting = (clientCa?: string): BrokerConfiguration =>
  ({ http: clientCa === undefined ? {} : { tls: { clientCa } } }) as BrokerConfiguration;

describe('the authorities of client certificates', () => {
  it.each([
    { what: 'one is gone', before: ca('a') + ca('b'), after: ca('b'), expected: true },
    { what: 'another has taken its place', before: ca('a'), after: ca('b'), expected: true },
    { what: 'all are gone', before: ca('a'), after: undefined, expected: true },
    { what: 'one has come', before: ca('a'), after: ca('b') + ca('a'), expected: false },
    { what: 'there were none', before: undefined, after: ca('a'), expected: false },
  ])('are fewer, or not, when $what', ({ before, after, expected }) => {
    expect(authoritiesShrank(trusting(before), trusting(after))).toBe(expected);
  });
});
