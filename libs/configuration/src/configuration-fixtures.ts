import { ConfigurationError, type Fault } from './fault.js';
import { parseConfiguration } from './load-configuration.js';

export type Raw = Record<string, unknown>;

export const CODE = '137d9304-0368-11ed-b939-0242ac120002';
export const OTHER_CODE = '237d9304-0368-11ed-b939-0242ac120002';

/** A merchant of a broker, with no more than it must have. */
export const merchant = (changes: Raw = {}): Raw => ({
  id: 'shop',
  serviceCode: CODE,
  // Not written unless a test sets it, but it comes before the keys.
  serviceCodeFile: undefined,
  clientKeyFiles: ['shop.jwk.json'],
  gateway: { baseUrl: 'https://gateway.example' },
  ...changes,
});

/** JSON is YAML 1.2. */
export const parse = (raw: Raw, environment = {}): ReturnType<typeof parseConfiguration> =>
  parseConfiguration(JSON.stringify({ merchants: [merchant()], ...raw }), environment);

export const written = (found: readonly Fault[]): string[] => found.map(({ path, problem }) => `${path} ${problem}`);

/** None if it is not refused. */
export function faultsOf(act: () => unknown): readonly Fault[] {
  try {
    act();
  } catch (error) {
    return faultsIn(error);
  }
  return [];
}

function faultsIn(error: unknown): readonly Fault[] {
  if (error instanceof ConfigurationError) return error.faults;
  throw error;
}

/** Of the settings of a broker beside one merchant, or beside those that are given. */
export const faults = (raw: Raw): string[] => written(faultsOf(() => parse(raw)));

/** Of a configuration that is refused once its files are read. */
export const refusal = (loading: Promise<unknown>): Promise<readonly Fault[]> =>
  loading.then(() => {
    throw new Error('the configuration was not refused');
  }, faultsIn);
