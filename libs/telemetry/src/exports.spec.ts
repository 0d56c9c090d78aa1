import { exportsOf, type TelemetryEnvironment } from './exports.js';

const ENDPOINT = { OTEL_EXPORTER_OTLP_ENDPOINT: 'http://collector:4318' };

describe('what is exported', () => {
  it.each<[string, TelemetryEnvironment, [traces: boolean, metrics: boolean]]>([
    ['nothing by default', {}, [false, false]],
    ['both to an endpoint', ENDPOINT, [true, true]],
    ['a signal with an endpoint of its own', { OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: 'http://c' }, [true, false]],
    ['a signal whose exporter is named', { OTEL_METRICS_EXPORTER: 'prometheus, otlp' }, [false, true]],
    ['not a signal that is none', { ...ENDPOINT, OTEL_TRACES_EXPORTER: 'none' }, [false, true]],
    ['not a signal that goes elsewhere', { ...ENDPOINT, OTEL_METRICS_EXPORTER: 'prometheus' }, [true, false]],
    ['nothing when it is empty', { OTEL_EXPORTER_OTLP_ENDPOINT: '', OTEL_TRACES_EXPORTER: '' }, [false, false]],
    ['nothing when all is off', { ...ENDPOINT, OTEL_SDK_DISABLED: 'TRUE' }, [false, false]],
  ])('is %s', (_what, environment, [traces, metrics]) => {
    expect(exportsOf(environment)).toEqual({ traces, metrics });
  });
});
