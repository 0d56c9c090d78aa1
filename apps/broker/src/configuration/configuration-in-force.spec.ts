import type { BrokerConfiguration } from '#libs/configuration';
import { ConfigurationInForce } from './configuration-in-force.js';

const named = (level: string): BrokerConfiguration => ({ log: { level } }) as BrokerConfiguration;

describe('the configuration in force', () => {
  it('makes each derivative once, knowing the one before', () => {
    const configuration = new ConfigurationInForce(named('info'));
    const makings: unknown[] = [];
    configuration.derive((next, before) => {
      makings.push([before?.configuration.log.level, before?.made, next.log.level]);
      return makings.length;
    });
    configuration.replace(named('debug'));
    configuration.replace(named('error'));
    expect(makings).toEqual([
      [undefined, undefined, 'info'],
      ['info', 1, 'debug'],
      ['debug', 2, 'error'],
    ]);
  });

  it('stays as it is, with all derivatives, when one of them cannot be made', () => {
    const configuration = new ConfigurationInForce(named('info'));
    const first = configuration.derive(({ log }) => log.level);
    configuration.derive(({ log }) => {
      if (log.level === 'debug') throw new TypeError('cannot be');
    });
    expect(() => configuration.replace(named('debug'))).toThrow('cannot be');
    expect([first(), configuration.current.log.level]).toEqual(['info', 'info']);
    configuration.replace(named('error'));
    expect(first()).toBe('error');
  });
});
