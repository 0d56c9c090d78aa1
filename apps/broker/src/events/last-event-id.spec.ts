import { generationOfLastEvent } from './last-event-id.js';

describe('Last-Event-ID', () => {
  it('names the generation that the consumer holds', () => {
    expect(generationOfLastEvent('1795212001234')).toBe(1_795_212_001_234);
  });

  it.each([undefined, '', 'x', '-1', '1.5', '1e3', ' 1', '0x10', '9'.repeat(16), '9'.repeat(17), ['1', '2']])(
    'counts as none when it is %j',
    (value) => {
      expect(generationOfLastEvent(value)).toBe(0);
    },
  );
});
