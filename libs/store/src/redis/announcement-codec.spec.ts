import { aRecordedFailure } from '#libs/testing';
import fc from 'fast-check';
import { decodeAnnouncement, decodeFailure, encodeAnnouncement, encodeFailure } from './announcement-codec.js';

const { msgCode: _none, ...withoutCode } = aRecordedFailure({ kind: 'timeout' });

describe('announcements on the wire', () => {
  it.each([
    { kind: 'published' as const, merchant: 'shop', generation: 1_795_000_000_000 },
    { kind: 'failed' as const, merchant: 'shop', failure: aRecordedFailure(), retryInMs: 1_234.5 },
    { kind: 'failed' as const, merchant: 'shop', failure: withoutCode, retryInMs: 0 },
  ])('arrive as they were sent: %j', (announcement) => {
    expect(decodeAnnouncement(encodeAnnouncement(announcement))).toEqual(announcement);
  });

  it.each([
    'not JSON',
    'null',
    '[]',
    '"published"',
    '{"kind":"published","merchant":7,"generation":1}',
    '{"kind":"published","merchant":"shop","generation":"1"}',
    '{"kind":"published","merchant":"shop","generation":1.5}',
    '{"kind":"failed","merchant":"shop","retryInMs":1}',
    '{"kind":"failed","merchant":"shop","retryInMs":1,"failure":{"kind":"new","at":1}}',
    '{"kind":"failed","merchant":"shop","retryInMs":"1","failure":{"kind":"timeout","at":1}}',
    '{"kind":"failed","merchant":"shop","retryInMs":1,"failure":{"kind":"timeout","at":1e300}}',
    '{"kind":"of a later version","merchant":"shop"}',
  ])('are ignored when this version does not know them: %s', (text) => {
    expect(decodeAnnouncement(text)).toBeUndefined();
  });

  it('never make the receiver fail, whatever is sent', () => {
    fc.assert(
      fc.property(fc.oneof(fc.string(), fc.json()), (text) => {
        expect(() => decodeAnnouncement(text)).not.toThrow();
        expect(() => decodeFailure(text)).not.toThrow();
      }),
    );
  });
});

describe('recorded failures', () => {
  it.each([aRecordedFailure(), withoutCode])('are read as they were written: %j', (failure) => {
    expect(decodeFailure(encodeFailure(failure))).toEqual(failure);
  });
});
