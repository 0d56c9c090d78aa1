import {
  listOf,
  oneOf,
  optional,
  readInput,
  shape,
  text,
  trueOrFalse,
  wholeNumber,
  withDefault,
} from './read-input.js';

const reader = shape({
  name: text({ longest: 5, pattern: /^[a-z]+$/, due: 'a short name' }),
  count: optional(wholeNumber(1, 3)),
  isOpen: withDefault(trueOrFalse, true),
  items: withDefault(listOf(shape({ colour: oneOf(['red', 'blue']) }), 2), []),
});

describe('reading input', () => {
  it('takes what is right, with defaults for what is missing', () => {
    expect(readInput(reader, { name: 'abc', items: [{ colour: 'red' }] })).toEqual({
      name: 'abc',
      count: undefined,
      isOpen: true,
      items: [{ colour: 'red' }],
    });
  });

  it('reports every fault at once, each with its place', () => {
    const wrong = {
      name: 'Too long',
      count: 4,
      isOpen: 'yes',
      items: [{ colour: 'red' }, { colour: 'grey' }],
      extra: 1,
    };
    expect(() => readInput(reader, wrong)).toThrow(
      expect.objectContaining({
        code: 'invalid_request',
        publicDetail: [
          'extra is unknown; known are name, count, isOpen, items',
          'name must be a short name',
          'count must be a whole number from 1 to 3',
          'isOpen must be true or false',
          'items[1].colour must be one of red, blue',
        ].join('; '),
      }),
    );
  });

  it.each([[null], [undefined], [[]], ['text'], [1]])('refuses %j where an object is due', (value) => {
    expect(() => readInput(reader, value)).toThrow('a JSON object is due');
  });

  it('takes no member from a prototype', () => {
    expect(() => readInput(reader, JSON.parse('{"__proto__": {}, "name": "a"}'))).toThrow('__proto__ is unknown');
    expect(() => readInput(shape({}), { constructor: 1 })).toThrow('constructor is unknown');
  });
});
