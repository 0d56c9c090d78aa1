import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { PlayedEgress } from '../observability/played-egress.js';

const PAGE = readFileSync(join(import.meta.dirname, '..', '..', 'docs', 'reference', 'metrics.md'), 'utf8');

describe('the reference of metrics', () => {
  it('lists every metric of the egress with its labels, and none that is not there', async () => {
    const egress = await PlayedEgress.start();
    egress.doEverything();
    const text = await (await fetch(`http://${egress.target}/metrics`)).text();
    await egress.stop();
    const there = new Map<string, string>();
    for (const [, name = '', labels = ''] of text.matchAll(
      /^(session_egress_\w+?)(?:_bucket|_sum|_count)?(?:\{(.*)\})? /gm,
    )) {
      const names = [...labels.matchAll(/(\w+)="/g)].map(([, label = '']) => (label === 'merchant' ? 'm' : label));
      there.set(name, names.filter((label) => label !== 'le').join(','));
    }
    const listed = new Map<string, string>();
    for (const [, name = '', labels = ''] of PAGE.matchAll(/`(session_egress_\w+)(?:\{([\w,]+)\})?`/g))
      listed.set(name, labels.replace('merchant', 'm'));
    expect(there.size).toBeGreaterThan(8);
    expect(listed).toEqual(there);
  });
});
