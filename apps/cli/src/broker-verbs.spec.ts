import { givenUrls } from './broker-verbs.js';

describe('the addresses of a broker', () => {
  const A = 'http://a.example';
  const B = 'http://b.example';

  it.each([
    ['on the command line, with blanks', { url: [A, B] }, {}],
    ['on the command line, with commas', { url: [`${A}, ${B},`] }, {}],
    ['in the environment', {}, { BROKER_URL: `${A},${B}` }],
    ['in the environment, with blanks', {}, { BROKER_URL: ` ${A}  ${B} ` }],
    ['on the command line before the environment', { url: [A, B] }, { BROKER_URL: 'http://c.example' }],
  ])('are taken as they are written: %s', (_how, options, environment) => {
    expect(givenUrls(options, { environment })).toEqual([A, B]);
  });

  it('are none where nothing names one', () => {
    expect(givenUrls({}, { environment: {} })).toEqual([]);
    expect(givenUrls({ url: [' ,'] }, { environment: { BROKER_URL: A } })).toEqual([]);
  });
});
