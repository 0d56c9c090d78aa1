import { interpolate, readYaml, type YamlContent } from './read-yaml.js';

const read = (source: string): YamlContent =>
  readYaml(source, { NAME: 'shop', PORT: '8080', BLOCK: 'a: {b: [1]}\n- x' });
const problems = (source: string): string[] => read(source).faults.map(({ path, problem }) => `${path} ${problem}`);

describe('readYaml', () => {
  it('reads mappings, sequences, text, numbers, flags, JSON, comments and anchors', () => {
    expect(read('{"a": {b: [1, x, true, "2"], c: 1.5}} # said')).toMatchObject({
      tree: { a: { b: [1, 'x', true, '2'], c: 1.5 } },
      faults: [],
    });
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
    ['broken brackets', 'a: [1', '(file) line 1, column'],
    ['a tab as indentation', 'a:\n\tb: 1', '(file) line 2, column 1: not valid YAML (TAB_AS_INDENT)'],
    ['two documents', 'a: 1\n---\nb: 2', '(file) line 2, column 1: not valid YAML (MULTIPLE_DOCS)'],
    ['a tag', 'a: !!js/function x', '(file) line 1, column 4: not valid YAML (TAG_RESOLVE_FAILED)'],
    ['another version', '%YAML 1.1\n---\na: yes', 'another YAML version'],
    ['an unquoted placeholder in braces', '{ port: ${PORT} }', '(file) line 1, column'],
    ['a repeated key', 'a: 1\nb: 2\na: 3', 'a is given more than once; keep one of them'],
    ['a repeated key below', 'x: [{a: 1, "a": 2}]', 'x[0].a is given more than once; keep one of them'],
    ['a merge key', 'a: &b {c: 1}\nd: {<<: *b}', 'd.(key) is not the name of a setting'],
    ['a key that is not text', '1: a', '(key) is not the name of a setting'],
    ['a key of another character set', 'ключ: 1', '(key) is not the name of a setting'],
    ['a UUID as a key', 'f37d9304-0368-11ed-b939-0242ac120002: 1', '(key) is not the name of a setting'],
    ['__proto__', '__proto__: {polluted: true}', '(key) is not the name of a setting'],
    ['constructor', 'a: {constructor: {prototype: 1}}', 'a.(key) is not the name of a setting'],
    ['no value', 'a:\nb: 1', 'a has no value'],
    ['null', 'a: [~]', 'a[0] has no value'],
    ['not a number', 'a: .nan', 'a is not a finite number'],
    ['an unknown alias', 'a: *b', 'a is an alias of an anchor'],
    ['an alias of itself', 'a: &b [*b]', 'is nested too deeply'],
    ['a missing variable', 'a: {b: "${MISSING}"}', 'a.b needs the environment variable MISSING'],
    ['too deep a nesting', `a: ${'['.repeat(30)}${']'.repeat(30)}`, 'nested too deeply'],
  ])('refuses %s', (_name, source, expected) => {
    expect(problems(source).join('\n')).toContain(expected);
    expect(({} as Record<string, unknown>)['polluted']).toBeUndefined();
  });

  it('keeps the rest of the file beside a fault, so that all of it can be checked', () => {
    expect(read('a: 1\nb:\nc: 3').tree).toEqual({ a: 1, b: undefined, c: 3 });
  });

  it('refuses a file over 1 MiB by its size alone', () => {
    expect(problems('a'.repeat(1_048_577))).toEqual(['(file) is larger than 1 MiB']);
    expect(problems(`a: ${'é'.repeat(600_000)}`)).toEqual(['(file) is larger than 1 MiB']);
  });

  it('tells the first error of the parser alone, since the others mostly follow from it', () => {
    const rest = 'c: [1, { d: 2 }]\ne:\n  - { f: 3 }\n';
    expect(problems(`a:\n  - { b: ${'${NAME}'} }\n${rest}`)).toEqual([
      expect.stringMatching(/^\(file\) line 2, column 11: not valid YAML \([A-Z_]+\); check indentation, quotes/),
    ]);
  });

  it('refuses aliases that multiply', () => {
    const lines = ['a0: &a0 [x, x, x, x, x, x, x, x, x, x]'];
    for (let i = 1; i < 9; i += 1)
      lines.push(`a${i}: &a${i} [${Array.from({ length: 10 }, () => `*a${i - 1}`).join(', ')}]`);
    expect(problems(lines.join('\n')).join('\n')).toMatch(/holds more than a configuration can/);
  });

  it('refuses placeholders that multiply', () => {
    const source = `a: [${Array.from({ length: 2_000 }, () => '"${LONG}"').join(', ')}]`;
    const { faults } = readYaml(source, { LONG: 'x'.repeat(8_000) });
    expect(faults.map(({ problem }) => problem)).toContain('holds more than a configuration can');
  });

  it.each(['[', '{a: ', '- ', '&a ', '"', '? ', 'a: '])('survives a file of nothing but %s', (piece) => {
    expect(read(piece.repeat(2_000)).faults.length).toBeGreaterThan(0);
  });

  it('says where the syntax is wrong without quoting the file', () => {
    expect(problems('a: 1\nsecret: "Zk7canaryQ\\q"')).toEqual([
      expect.stringMatching(/^\(file\) line 2, column \d+: /),
    ]);
    expect(problems('a: "Zk7canaryQ').join()).not.toContain('canary');
  });
});

const environment = { HOST: 'gateway.example', EMPTY: '', TRICKY: '${HOST} $& $1' };

describe('interpolate', () => {
  it.each([
    ['https://${HOST}/x', 'https://gateway.example/x', false],
    ['${HOST}', 'gateway.example', true],
    [' ${HOST}', ' gateway.example', false],
    ['${HOST}${HOST}', 'gateway.examplegateway.example', false],
    ['${HOST:-other}', 'gateway.example', true],
    ['${NOT_SET:-other}', 'other', true],
    ['${NOT_SET:-}', '', true],
    ['${EMPTY}', '', true],
    ['${EMPTY:-other}', 'other', true],
    ['$${HOST}', '${HOST}', false],
    ['$HOST and $ and {HOST}', '$HOST and $ and {HOST}', false],
    ['${TRICKY}', '${HOST} $& $1', true],
  ])('makes of %s %j, and knows whether it is one placeholder and nothing else', (source, text, wholePlaceholder) => {
    expect(interpolate(source, environment)).toEqual({ kind: 'text', text, wholePlaceholder });
  });

  it.each(['${NOT_SET}', '${constructor}', '${__proto__}', '${toString}'])('misses the variable of %s', (source) => {
    const variable = /\w+/.exec(source)?.[0] ?? '';
    const problem = `needs the environment variable ${variable}, which is not set`;
    expect(interpolate(source, environment)).toEqual({ kind: 'fault', problem, variable });
  });

  it.each(['${', '${}', '${1A}', '${A-B}', '${A:B}', '${HOST', 'x ${HOST:-y'])(
    'refuses the broken placeholder %s',
    (source) => {
      expect(interpolate(source, environment)).toEqual({
        kind: 'fault',
        problem: expect.stringContaining('has a "${"'),
      });
    },
  );
});
