import { endedAfterAll, eventually } from '#libs/testing';
import { Collector } from './collector.js';
import { ObservedBroker } from './observed-broker.js';

const MARKER = 'marker-b41d';
const PAGE = `<!DOCTYPE html><html><head><title>${MARKER}</title></head><body>Support ID: ${MARKER}</body></html>`;

describe('a page of HTML in place of an answer', () => {
  let collector: Collector;
  let broker: ObservedBroker;

  const started = endedAfterAll();
  beforeAll(async () => {
    collector = started.add(await Collector.start(), (it) => it.close());
    const fault = { kind: 'garbage_body', operation: 'authorize', text: PAGE };
    broker = started.add(await ObservedBroker.start(collector.environment, { faults: [fault] }), (it) => it.stop());
  });

  it('is reported as HTML, and nothing of it is in log, metrics, traces, page and answers', async () => {
    await eventually(async () => /gateway_failures_total\{[^}]*code="html_page"/.test(await broker.metrics()));
    await eventually(() => collector.named('gateway_call').length > 0);
    const failed = broker.lines.find(({ msg }) => String(msg).startsWith('renewal failed'));
    expect(failed).toMatchObject({ instead: 'html_page', httpStatus: 200, detail: expect.stringContaining('HTML') });
    const page: unknown = await (await fetch(`${broker.managementUrl}/status.json`)).json();
    expect(JSON.stringify(page)).toContain('html_page');
    expect(await broker.read()).toBe(503);
    const seen = [broker.lines, page, collector.spans, await broker.metrics(), await broker.session()];
    expect(JSON.stringify(seen)).not.toContain(MARKER);
    expect(JSON.stringify(seen)).not.toContain('Support ID');
  });
});
