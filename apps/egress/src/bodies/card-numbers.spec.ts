import { findClearCardNumber } from './card-numbers.js';

describe('a clear card number', () => {
  it('is found by the path of its member', () => {
    const json = JSON.stringify({ customerData: { comments: ['none', 'paid with 4111 1111 1111 1111'] } });
    expect(findClearCardNumber(json, [])).toBe('customerData.comments[1]');
  });
});
