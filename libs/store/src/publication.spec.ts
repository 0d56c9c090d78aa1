import type { Lease } from '#libs/session';
import { aSession } from '#libs/testing';
import { assertPublishable } from './publication.js';

const lease = (fence: number): Lease => ({ merchant: 'shop', owner: 'replica-1', fence, remainingMs: 1, failures: 0 });

describe('what is published', () => {
  it.each([0, -2, 2 ** 53])('is refused when its generation is not one: %d', (generation) => {
    expect(() => assertPublishable(lease(generation), aSession({ generation }))).toThrow('whole number above 0');
  });

  it.each([
    ['a generation that was made alone', { generation: 7 }, 7],
    ['another generation', { generation: 10 }, 8],
    ['another merchant', { generation: 8, merchant: 'kiosk' }, 8],
  ])('is refused for %s', (_case, session, fence) => {
    expect(() => assertPublishable(lease(fence), aSession(session))).toThrow('under the lease');
  });

  it('is taken under its own lease', () => {
    expect(() => assertPublishable(lease(8), aSession({ generation: 8 }))).not.toThrow();
  });
});
