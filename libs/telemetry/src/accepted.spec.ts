import { dialectFor, takesGzip } from './accepted.js';

const PROMETHEUS_2 =
  'application/openmetrics-text;version=1.0.0,application/openmetrics-text;version=0.0.1;q=0.75,text/plain;version=0.0.4;q=0.5,*/*;q=0.1';
const PROMETHEUS_3 =
  'application/openmetrics-text;version=1.0.0;escaping=allow-utf-8;q=0.6,application/openmetrics-text;version=0.0.1;q=0.5,text/plain;version=1.0.0;escaping=allow-utf-8;q=0.4,text/plain;version=0.0.4;q=0.3,*/*;q=0.2';

describe('the text of a scrape', () => {
  it.each([
    ['openmetrics', 'as Prometheus 2 asks', PROMETHEUS_2],
    ['openmetrics', 'as Prometheus 3 asks', PROMETHEUS_3],
    ['openmetrics', 'by name alone', 'application/openmetrics-text'],
    ['openmetrics', 'with a quoted version, in capitals', 'Application/OpenMetrics-Text; Version="1.0.0"'],
    ['openmetrics', 'beside the older one, at the same weight', 'text/plain, application/openmetrics-text'],
    ['openmetrics', 'beside anything, which weighs less', 'application/openmetrics-text;q=0.2, */*;q=0.1'],
    ['text', 'when nobody asks for anything', undefined],
    ['text', 'when anything is taken', '*/*'],
    ['text', 'when it weighs more', 'application/openmetrics-text;q=0.4, text/plain;q=0.5'],
    ['text', 'when it weighs more by a wildcard', 'application/openmetrics-text;q=0.4, text/*'],
    ['text', 'when OpenMetrics is refused', 'application/openmetrics-text;q=0'],
    ['text', 'when another version of OpenMetrics is asked for', 'application/openmetrics-text;version=0.0.1'],
    ['text', 'when a weight cannot be read', 'application/openmetrics-text;q=much'],
    ['text', 'when there are too many choices', `${'text/html,'.repeat(20)}application/openmetrics-text`],
  ])('is %s %s', (dialect, _when, accept) => {
    expect(dialectFor(accept)).toBe(dialect);
  });
});

it.each([
  ...['gzip', 'gzip, deflate, br', 'br;q=1.0, gzip;q=0.8', 'GZIP', '*', 'x-gzip'].map((name) => [name, true] as const),
  ...[undefined, '', 'identity', 'br', 'gzip;q=0', '*, gzip;q=0', 'gzip;q=0.0'].map((name) => [name, false] as const),
])('an answer to who accepts %s is compressed: %s', (accepted, isCompressed) => {
  expect(takesGzip(accepted)).toBe(isCompressed);
});
