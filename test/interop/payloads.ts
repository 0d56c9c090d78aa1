import fc from 'fast-check';

const MAX_BYTES = 32_768;
/** Around the block sizes of AES and SHA-256, around that of a pipe, and at the ends of the range. */
const EDGES = [0, 1, 15, 16, 17, 31, 32, 33, 63, 64, 65, 255, 256, 4_095, 4_096, 4_097, 32_767, MAX_BYTES];
const TEXTS = [
  '',
  'Žluťoučký kůň',
  '支付 成功 ✓',
  'مرحبا',
  'e\u0301 \u{1F469}\u200D\u{1F467}',
  '\u0000\uFEFF\u2028',
  '{"a":"\\u00e9"}',
];

const anyBytes = fc.uint8Array({ minLength: 0, maxLength: MAX_BYTES, size: 'max' });
const anyText = fc.string({ unit: 'binary', maxLength: 4_000, size: 'max' });
const anyGraphemes = fc.string({ unit: 'grapheme', maxLength: 4_000, size: 'max' });
const anyJson = fc.json({ stringUnit: 'binary' });

const anyPayload = fc.oneof(
  anyBytes.map((bytes) => Buffer.from(bytes)),
  fc.oneof(anyText, anyGraphemes, anyJson).map((text) => Buffer.from(text)),
);

/** At least `count` payloads of 0 bytes to 32 KiB: every edge, texts of many scripts, and random ones from a seed. */
export function payloadsFrom(seed: number, count: number): readonly Buffer[] {
  const fixed = [...EDGES.map((length) => Buffer.alloc(length, seed)), ...TEXTS.map((text) => Buffer.from(text))];
  return [...fixed, ...fc.sample(anyPayload, { seed, numRuns: count })].map((payload) =>
    payload.subarray(0, MAX_BYTES),
  );
}
