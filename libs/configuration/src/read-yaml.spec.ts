import { readYaml, type YamlContent } from './read-yaml.js';

const read = (source: string): YamlContent =>
  readYaml(source, { NAME: 'shop', PORT: '8080', BLOCK: 'a: {b: [1]}\n- x' });
const problems = (source: string): string[] => read(source).faults.map(({ path, problem }) => `${path} ${problem}`);

describe('readYaml', () => {
  it('reads mappings, sequences, text, numbers and flags', () => {
    expect(read('a: {b: [1, x, true, "2"], c: 1.5}')).toMatchObject({
      tree: { a: { b: [1, 'x', true, '2'], c: 1.5 } },
      faults: [],
    });
  });

  it('reads JSON, comments and anchors', () => {
    expect(read('{"a": "b"} # said').tree).toEqual({ a: 'b' });
    expect(read('a: &gateway {url: x}\nb: *gateway').tree).toEqual({ a: { url: 'x' }, b: { url: 'x' } });
  });

  it('fills placeholders in values and remembers those that stand alone', () => {
    const { tree, placeholders } = read('a: ${NAME}\nb: "${PORT}"\nc: x-${NAME}\nlist: [x, "${PORT}"]');
    expect(tree).toEqual({ a: 'shop', b: '8080', c: 'x-shop', list: ['x', '8080'] });
    expect([...placeholders]).toEqual(['a', 'b', 'list[1]']);
  });

  it('never lets a variable become structure', () => {
    expect(read('a: ${BLOCK}').tree).toEqual({ a: 'a: {b: [1]}\n- x' });
  });

  it.each<[string, string, string]>([
    ['a text alone', 'shop', '(file) must be a YAML mapping'],
    ['nothing', '', '(file) must be a YAML mapping'],
    ['a sequence', '- a', '(file) must be a YAML mapping'],
    ['broken brackets', 'a: [1', '(file) line 1, column'],
    ['a tab as indentation', 'a:\n\tb: 1', '(file) line 2, column 1: the line is indented with a tab; use spaces'],
    ['two documents', 'a: 1\n---\nb: 2', 'second document'],
    ['a tag', 'a: !!js/function x', 'tags are not accepted'],
    ['a binary tag', 'a: !!binary aGk=', 'tags are not accepted'],
    ['another version', '%YAML 1.1\n---\na: yes', 'another YAML version'],
    ['an unquoted placeholder in braces', '{ port: ${PORT} }', 'put "${NAME}" in quotes'],
    ['an unquoted placeholder in brackets', 'keys: [${KEY}]', 'put "${NAME}" in quotes'],
    ['one with a default', 'keys: [one, ${KEY:-two}]', 'put "${NAME}" in quotes'],
    ['one as a part of a value', 'a:\n  - keys: [${FOLDER}/key.json, two]\n    b: 1', 'put "${NAME}" in quotes'],
    ['a repeated key', 'a: 1\nb: 2\na: 3', 'a is given more than once, again in line 3, column 1; keep one of them'],
    [
      'a line that is not indented enough',
      'a:\n  - b: 1\n c: 2',
      '(file) line 3, column 1: the line begins further to the left or right than',
    ],
    ['a bracket that is not closed', 'a: [1,\nb: 2', 'or a bracket above it is not closed'],
    [
      'a repeated key below',
      'x: [{a: 1, "a": 2}]',
      'x[0].a is given more than once, again in line 1, column 12; keep one of them',
    ],
    ['a merge key', 'a: &b {c: 1}\nd: {<<: *b}', 'd.(key) is not the name of a setting'],
    ['a key that is not text', '1: a', '(key) is not the name of a setting'],
    ['a key that is a sequence', '? [a]\n: 1', '(key) is not the name of a setting'],
    ['a key of another character set', 'ключ: 1', '(key) is not the name of a setting'],
    ['a UUID as a key', 'f37d9304-0368-11ed-b939-0242ac120002: 1', '(key) is not the name of a setting'],
    ['__proto__', '__proto__: {polluted: true}', '(key) is not the name of a setting'],
    ['constructor', 'a: {constructor: {prototype: 1}}', 'a.constructor is not a setting'],
    ['no value', 'a:\nb: 1', 'a has no value'],
    ['null', 'a: [~]', 'a[0] has no value'],
    ['not a number', 'a: .nan', 'a is not a finite number'],
    ['an unknown alias', 'a: *b', 'a is an alias of an anchor'],
    ['an alias of itself', 'a: &b [*b]', 'a[0] is an alias of something that contains it'],
    ['a missing variable', 'a: {b: "${MISSING}"}', 'a.b needs the environment variable MISSING'],
    ['a long text', `a: ${'x'.repeat(9_000)}`, 'a is longer than 8192 characters'],
    ['too deep a nesting', `a: ${'['.repeat(30)}${']'.repeat(30)}`, 'nested too deeply'],
  ])('refuses %s', (_name, source, expected) => {
    expect(problems(source).join('\n')).toContain(expected);
    expect(({} as Record<string, unknown>)['polluted']).toBeUndefined();
  });

  describe('a placeholder without quotes between brackets', () => {
    const hint = '"${" does not belong here; inside { } and [ ] put "${NAME}" in quotes';

    it('is told once, and nothing of what the parser makes of the rest of the file', () => {
      const rest = 'c: [1, { d: 2 }]\ne:\n  - { f: 3 }\n';
      expect(problems(`a:\n  - { b: ${'${NAME}'} }\n${rest}${rest}`)).toEqual([
        `(file) line 2, column 11: ${hint}; reading stopped there: fix this, and check again`,
      ]);
    });

    it('is told with every other one', () => {
      expect(problems('a:\n  - { b: ${NAME} }\n  - { b: "${NAME}" }\n  - [x, ${NAME}]\nc: ${NAME}')).toEqual([
        `(file) line 2, column 11: ${hint}; reading stopped there: fix this, and check again`,
        `(file) line 4, column 10: ${hint}`,
      ]);
    });

    it('is not blamed for a bracket too many', () => {
      expect(problems('a: {b: 1}}\nc: 2\nd: {e: "${NAME}"}')).toEqual([
        '(file) line 1, column 10: something does not belong here; check brackets and quotes, here and above; ' +
          'reading stopped there: fix this, and check again',
      ]);
    });
  });

  it.each([
    ['between brackets', 'store: { type:memory }', 'store.type needs a space after "type:"'],
    [
      'on a line of its own',
      'store:\n  type:memory\n  a: 1',
      '(file) line 2, column 3: a space is missing after "type:"; put one there',
    ],
    [
      'on the last line',
      'a: 1\ntype:memory\n',
      '(file) line 2, column 1: a space is missing after "type:"; put one there',
    ],
    ['as a URL', 'a: { https://x.example }', 'a.(key) is not the name of a setting'],
    ['as a token', 'a: { 0b7ad9ab:Zk7canaryQ }', 'a.(key) is not the name of a setting'],
  ])('names a missing space: %s', (_name, source, expected) => expect(problems(source)).toEqual([expected]));

  it('keeps the rest of the file beside a fault, so that all of it can be checked', () => {
    expect(read('a: 1\nb:\nc: 3').tree).toEqual({ a: 1, b: undefined, c: 3 });
  });

  it('refuses a file over 1 MiB by its size alone', () => {
    expect(problems('a'.repeat(1_048_577))).toEqual(['(file) is larger than 1 MiB']);
    expect(problems(`a: ${'é'.repeat(600_000)}`)).toEqual(['(file) is larger than 1 MiB']);
  });

  it.each([
    ['an asterisk alone', 'a: 1\nmerchants: [*]\nb: 2\n', 'line 2, column 13: ', '"*" refers to'],
    ['an ampersand alone', 'a: 1\nb: &\n', 'line 2, column 4: ', '"&" names'],
    [
      'a colon with a blank',
      'a:\n  passwordFile: p@ss: word\n  b: 1\n',
      'line 2, column 17: ',
      'the value contains ": "',
    ],
    ['a colon with a blank, in brackets', 'a: { b: p: q }\n', 'line 1, column 9: ', 'the value contains ": "'],
    ['an at sign', 'a: 1\nb: @x\n', 'line 2, column 4: ', 'begins with "@"'],
    ['a per cent sign', 'a: 1\nb: %x\n', 'line 2, column 4: ', 'begins with "%"'],
    ['a backtick', 'a: 1\nb: `x\n', 'line 2, column 4: ', 'begins with "`"'],
    ['an exclamation mark', 'a: 1\nb: !x\n', 'line 2, column 4: ', 'begins with "!"'],
  ])('says of a value that has to be quoted where it is, and why: %s', (...[, source, place, why]) => {
    const [problem, ...others] = problems(source);
    expect(others).toEqual([]);
    expect(problem).toContain(`(file) ${place}`);
    expect(problem).toContain(why);
    expect(problem).toMatch(/put (?:it|the value) in quotes/);
  });

  it.each([
    ['double', 'a: 1\nlist:\n  - x: "never\n  - y: 2\nc: 3\n', 'line 3, column 8: a double quote'],
    ['single, in brackets', "a: 1\nlist: ['x, y]\nc: 3\n", 'line 2, column 8: a single quote'],
  ])('says where a quote opens that is never closed: %s', (_name, source, place) => {
    expect(problems(source)).toEqual([`(file) ${place} opens here and is never closed; close it after the value`]);
  });

  it.each([
    [
      'below a name',
      'http:\n  host: a\n   port: 1\n  docs: 1\n',
      'line 3, column 4: this name is indented by 3 and the one above it by 2; indent both alike',
    ],
    [
      'in a list',
      'm:\n  - id: x\n     url: y\n    z: 1\n',
      'line 3, column 6: this name is indented by 5 and the one above it by 4; indent both alike',
    ],
  ])('names the line that is indented too far: %s', (_name, source, fault) => {
    expect(problems(source)).toEqual([`(file) ${fault}`]);
  });

  it('refuses aliases that multiply', () => {
    const lines = ['a0: &a0 [x, x, x, x, x, x, x, x, x, x]'];
    for (let i = 1; i < 9; i += 1)
      lines.push(`a${i}: &a${i} [${Array.from({ length: 10 }, () => `*a${i - 1}`).join(', ')}]`);
    expect(problems(lines.join('\n')).join('\n')).toMatch(/more (?:aliases|values) than a configuration can/);
  });

  it('refuses placeholders that multiply', () => {
    const source = `a: [${Array.from({ length: 2_000 }, () => '"${LONG}"').join(', ')}]`;
    const { faults } = readYaml(source, { LONG: 'x'.repeat(8_000) });
    expect(faults.map(({ problem }) => problem)).toContain('holds more text than a configuration can');
  });

  it.each(['[', '{a: ', '- ', '&a ', '"', '? ', 'a: '])('survives a file of nothing but %s', (piece) => {
    expect(read(piece.repeat(20_000)).faults.length).toBeGreaterThan(0);
  });

  it('says where the syntax is wrong without quoting the file', () => {
    expect(problems('a: 1\nsecret: "Zk7canaryQ\\q"')).toEqual([
      expect.stringMatching(/^\(file\) line 2, column \d+: /),
    ]);
    expect(problems('a: "Zk7canaryQ').join()).not.toContain('canary');
  });
});
