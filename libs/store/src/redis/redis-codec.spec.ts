import { aRecordedFailure } from '#libs/testing';
import fc from 'fast-check';
import { decodeAnnouncement, decodeFailure } from './redis-codec.js';

const { msgCode: _none, ...withoutCode } = aRecordedFailure({ kind: 'timeout' });
const nowMs = withoutCode.at + 1_000;

describe('announcements on the wire', () => {
  it('are hints of a change, with the generation of a publication', () => {
    for (const more of [{ generation: 1_795_000_000_000 }, {}]) {
      const changed = { kind: 'changed', merchant: 'shop', ...more } as const;
      expect(decodeAnnouncement(JSON.stringify(changed))).toEqual(changed);
    }
  });

  it.each([
    '{"kind":"changed","merchant":"shop","generation":"1"}',
    '{"kind":"changed","merchant":"shop","generation":1.5}',
    '{"kind":"changed","merchant":"shop","generation":9007199254740993}',
    '{"kind":"changed","merchant":"shop","generation":-1}',
  ])('name only the merchant to read when the rest is not believed: %s', (text) => {
    expect(decodeAnnouncement(text)).toEqual({ kind: 'changed', merchant: 'shop' });
  });

  it.each([
    'not JSON',
    'null',
    '[]',
    '{}',
    '"changed"',
    '{"kind":"changed","merchant":7,"generation":1}',
    '{"kind":"changed","merchant":"","generation":1}',
    JSON.stringify({ kind: 'changed', merchant: 'x'.repeat(201), generation: 1 }),
    JSON.stringify({ kind: 'changed', merchant: 'shop', generation: 1, more: 'x'.repeat(4_096) }),
    '{"kind":"gap"}',
    '{"kind":"of a later version","merchant":"shop"}',
  ])('are ignored when this version does not know them: %s', (text) => {
    expect(decodeAnnouncement(text)).toBeUndefined();
  });

  it.each([
    { merchant: 'shop', generation: 8, step: 'begins', holdForMs: 3_000 },
    { merchant: 'shop', generation: 8, step: 'holding', participants: 0 },
    { merchant: 'shop', generation: 8, step: 'ready', participant: '5f6a0c0e-7a5c-4c6c-9c0b-2d1f3e4a5b6c' },
    { merchant: 'shop', generation: 8, step: 'ended' },
  ] as const)('of a hand-over are read as they were written: %j', (signal) => {
    const said = { kind: 'handover', ...signal };
    expect(decodeAnnouncement(JSON.stringify(said))).toEqual(said);
  });

  it.each([
    { step: 'begins', holdForMs: 10_001 },
    { step: 'begins', holdForMs: 0 },
    { step: 'begins', holdForMs: 1.5 },
    { step: 'begins' },
    { step: 'holding', participants: -1 },
    { step: 'holding', participants: 100_001 },
    { step: 'holding', participants: '1' },
    { step: 'ready', participant: '' },
    { step: 'ready', participant: 'x'.repeat(65) },
    { step: 'ready', participant: '<script>' },
    { step: 'ended', generation: -8 },
    { step: 'ended', generation: '8' },
    { step: 'of a later version' },
    {},
  ])('of a hand-over are ignored when this version cannot have written them: %j', (signal) => {
    const text = JSON.stringify({ kind: 'handover', merchant: 'shop', generation: 8, ...signal });
    expect(decodeAnnouncement(text)).toBeUndefined();
  });

  it('never make the receiver fail, whatever is sent', () => {
    fc.assert(
      fc.property(fc.oneof(fc.string(), fc.json()), (text) => {
        expect(() => decodeAnnouncement(text)).not.toThrow();
        expect(() => decodeFailure(text, nowMs)).not.toThrow();
      }),
    );
  });
});

describe('recorded failures', () => {
  const trace = { mark: 'ECONNREFUSED', peer: '127.0.0.1:9' };

  it.each([aRecordedFailure(), withoutCode, { ...withoutCode, trace }])(
    'are read as they were written: %j',
    (failure) => {
      expect(decodeFailure(JSON.stringify(failure), nowMs)).toEqual(failure);
    },
  );

  it.each(['', '<script>', 'x'.repeat(65), 'two words', 7, null])('lose a code that is not one: %j', (msgCode) => {
    expect(decodeFailure(JSON.stringify({ ...withoutCode, msgCode }), nowMs)).toEqual(withoutCode);
  });

  it.each(['', 7, null, { peer: '<script>' }, { mark: 'two words' }])('lose a trace that is none: %j', (trace) => {
    expect(decodeFailure(JSON.stringify({ ...withoutCode, trace }), nowMs)).toEqual(withoutCode);
  });

  it.each([{ kind: 'new' }, { at: '1' }, { at: 8.64e15 }, { at: -8.64e15 }, { at: null }])(
    'are absent when this version cannot have written them: %j',
    (change) => {
      expect(decodeFailure(JSON.stringify({ ...withoutCode, ...change }), nowMs)).toBeUndefined();
    },
  );
});
