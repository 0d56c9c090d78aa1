import fc from 'fast-check';

/** Octets that parsers stumble over: terminators, quotes, delimiters, extreme numbers, incomplete characters. */
const SHARP = [
  ...['\0', '\n', '\r', '\r\n', '\t', ' ', '"', "'", '\\', '{', '}', '[', ']', ':', ',', '.', '-', '_', '=', '+'],
  ...['/', '%', '%00', '%0d%0a', '..', ';', '#', '?', '&', '*', '@', '!', '|', '~', '`', '$', '${', '<', '>'],
  ...['0', '-1', '1e999', '9007199254740993', '4294967296', 'null', 'true', '__proto__', '\u{FEFF}', '\u{2028}'],
].map((text) => Buffer.from(text, 'utf8'));
const BROKEN = [[0xff], [0xc3], [0xed, 0xa0, 0x80], [0xf4, 0x90, 0x80, 0x80], [0x80], [0x7f]].map((octets) =>
  Buffer.from(octets),
);

interface Edit {
  /** The position, modulo the number of positions. */
  readonly at: number;
  readonly remove: number;
  readonly insert: Uint8Array;
  readonly times: number;
}

const edit: fc.Arbitrary<Edit> = fc.record({
  at: fc.nat({ max: 65_535 }),
  remove: fc.oneof(fc.constantFrom(0, 1), fc.nat({ max: 8 }), fc.nat({ max: 2_000 })),
  insert: fc.oneof(
    fc.constantFrom<Uint8Array>(Buffer.alloc(0), ...SHARP, ...BROKEN),
    fc.uint8Array({ minLength: 1, maxLength: 4 }),
  ),
  times: fc.oneof({ weight: 12, arbitrary: fc.constant(1) }, { weight: 1, arbitrary: fc.constantFrom(2, 50, 3_000) }),
});

function applied(octets: Buffer, { at, remove, insert, times }: Edit): Buffer {
  const start = at % (octets.length + 1);
  const inserted = Array.from({ length: times }, () => insert);
  return Buffer.concat([octets.subarray(0, start), ...inserted, octets.subarray(start + remove)]);
}

/** Shown as text in a find, one character per octet. */
export function legible(octets: Buffer): Buffer {
  return Object.assign(octets, { [fc.toStringMethod]: () => JSON.stringify(octets.toString('latin1')) });
}

/** What a generator draws, as octets, with a few edits anywhere; now and then without any. */
export function damaged(whole: fc.Arbitrary<string | Uint8Array>): fc.Arbitrary<Buffer> {
  const edits = fc.oneof(
    { weight: 1, arbitrary: fc.constant<Edit[]>([]) },
    { weight: 8, arbitrary: fc.array(edit, { minLength: 1, maxLength: 4 }) },
  );
  return fc
    .tuple(whole, edits)
    .map(([content, list]) =>
      legible(list.reduce(applied, typeof content === 'string' ? Buffer.from(content, 'utf8') : Buffer.from(content))),
    );
}
