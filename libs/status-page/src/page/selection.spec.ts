import type { StatusDocument, StatusMerchant } from '../status-document.js';
import type { Filter } from './filters.js';
import { PlayedTime } from './played-time.js';
import { Selection } from './selection.js';

const aDocument = (ids: readonly string[], matching = ids.length): StatusDocument =>
  ({
    matching,
    merchants: ids.map((id) => ({ id, condition: 'unavailable' }) as StatusMerchant),
  }) as unknown as StatusDocument;

const ALL: Filter = { text: '', condition: undefined };

class Rig {
  readonly time = new PlayedTime();
  readonly asked: string[] = [];
  answers = 0;
  answer: StatusDocument | undefined = aDocument(['found']);
  readonly selection = new Selection({
    load: async ({ text }) => {
      this.asked.push(text);
      return this.answer;
    },
    onAnswer: () => (this.answers += 1),
    after: this.time.after,
    monotonicMs: this.time.monotonicMs,
  });

  found(document: StatusDocument, filter: Partial<Filter>): string[] | undefined {
    return this.selection.of(document, { ...ALL, ...filter })?.merchants.map(({ id }) => id);
  }
}

describe('the selection of merchants', () => {
  it('is made in the page while the news lists all of them', () => {
    const rig = new Rig();
    const document = aDocument(['shop-a', 'shop-b', 'kiosk']);
    expect(rig.found(document, { text: 'shop' })).toEqual(['shop-a', 'shop-b']);
    expect(rig.found(document, { condition: 'unavailable' })).toHaveLength(3);
    expect(rig.found(document, { condition: 'fresh' })).toEqual([]);
    rig.selection.refresh(document, { ...ALL, text: 'shop' });
    expect(rig.time.waiting).toBe(0);
  });

  it('is what the news lists, when there are more and nothing is searched for', () => {
    const rig = new Rig();
    const document = aDocument(['worst'], 10_000);
    expect(rig.selection.of(document, ALL)).toMatchObject({ matching: 10_000 });
    rig.selection.refresh(document, ALL);
    expect(rig.time.waiting).toBe(0);
  });

  it('is asked for when there are more: once the reader has stopped typing, and with the news, at a pace', async () => {
    const rig = new Rig();
    const document = aDocument(['worst'], 10_000);
    for (const text of ['f', 'fo', 'fou']) rig.selection.refresh(document, { ...ALL, text });
    expect(rig.found(document, { text: 'fou' })).toBeUndefined();
    await rig.time.advance(200);
    expect([rig.asked, rig.answers]).toEqual([['fou'], 1]);
    expect(rig.found(document, { text: 'fou' })).toEqual(['found']);
    for (let second = 0; second < 10; second += 1) {
      rig.selection.refresh(document, { ...ALL, text: 'fou' });
      await rig.time.advance(1_000);
    }
    expect(rig.asked.length).toBeGreaterThan(3);
    expect(rig.asked.length).toBeLessThan(8);
  });

  it('keeps what it has while the replica is not reached, and forgets answers to other questions', async () => {
    const rig = new Rig();
    const document = aDocument(['worst'], 10_000);
    rig.selection.refresh(document, { ...ALL, text: 'a' });
    await rig.time.advance(200);
    rig.answer = undefined;
    await rig.time.advance(5_000);
    rig.selection.refresh(document, { ...ALL, text: 'a' });
    await rig.time.advance(200);
    expect(rig.found(document, { text: 'a' })).toEqual(['found']);
    expect(rig.found(document, { text: 'b' })).toBeUndefined();
  });
});
