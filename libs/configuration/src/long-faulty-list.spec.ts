import { brokerKind } from './broker-kind.js';
import { ConfigurationError, MAX_FAULTS_FOUND } from './fault.js';
import { examine, parseConfiguration } from './parse-configuration.js';
import { readYaml } from './read-yaml.js';

function toldOf(text: string): ConfigurationError {
  try {
    parseConfiguration(text, {});
  } catch (error) {
    if (error instanceof ConfigurationError) return error;
  }
  throw new Error('the configuration was taken');
}

/** More faults would only be compared with each other, on the event loop, and never be shown. */
describe('a long list of what is no setting', () => {
  const lists: Record<string, string> = {
    'mappings without a known setting': '- {a: 1}\n',
    'single values': '- 1\n',
    'empty items': '-\n',
  };

  it.each(Object.entries(lists))('is not looked at any further than it will ever be told of: %s', (_what, item) => {
    const text = `merchants:\n${item.repeat(5 * MAX_FAULTS_FOUND)}`;
    const { faults } = examine(brokerKind, readYaml(text, {}));
    expect(faults.length).toBeGreaterThan(200);
    expect(faults.length).toBeLessThan(1.1 * MAX_FAULTS_FOUND);
    const told = toldOf(text);
    expect(told.faults).toHaveLength(200);
    expect(told.faults[0]?.path).toMatch(/^merchants\[0\]/);
  });
});
