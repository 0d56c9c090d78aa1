import { endedAfterAll } from '#libs/testing';
import { fuzzBatch } from './fuzz-batch.js';
import { readAnswers } from './http/answers.js';
import { judgeAnswer } from './http/judge.js';
import { httpPorts } from './targets/http-ports.js';

const SEED = 20_260_101;
/** Each run is many connections. */
const RUNS = 2;

describe('what ports are fed', () => {
  const started = endedAfterAll();

  it.each(httpPorts.map((target) => [target.name, target] as const))(
    'shows no fault, in the few inputs of a fixed seed: %s',
    async (_name, { open }) => {
      const target = started.add(await open(), (it) => it.close());
      const { find, inputs } = await fuzzBatch(target, { seed: SEED, runs: RUNS });
      expect(find).toBeUndefined();
      expect(inputs).toBeGreaterThan(RUNS);
    },
  );
});

describe('the judge of what ports answer', () => {
  const problem = (status: number, code: string): string =>
    JSON.stringify({ type: 'urn:x', title: 'Something went wrong inside the broker', status, code, requestId: 'r-1' });
  const answer = (status: number, body: string, lines = ''): string =>
    `HTTP/1.1 ${status} X\r\ncontent-type: application/problem+json\r\ncontent-length: ${body.length}\r\n${lines}\r\n${body}`;
  const judged = (text: string): void => {
    for (const one of readAnswers(text, 'GET / HTTP/1.1\r\n\r\n')) judgeAnswer(one, () => false);
  };

  it.each([
    ['a failure of our own', answer(500, problem(500, 'internal_error')), 'brought about by no request'],
    ['a code that is none', answer(503, problem(503, 'tired')), 'a code of the registry'],
    ['a status that is not the one of its code', answer(404, problem(404, 'session_unavailable')), 'has its status'],
    ['an error without a document', 'HTTP/1.1 502 X\r\ncontent-length: 1\r\n\r\nx', 'in a problem document'],
    ['an answer that is cut', answer(200, '{}').slice(0, -1), 'as long as it says'],
    ['an answer behind the last one', answer(200, '{}', 'connection: close\r\n').repeat(2), 'nothing follows'],
    ['a header that comes twice', answer(200, '{}', 'content-length: 2\r\n'), 'comes once'],
    ['what is no HTTP', '\0', 'the head of an answer is whole'],
  ])('refuses %s', (_name, text, sentence) => {
    expect(() => judged(text)).toThrow(sentence);
  });

  it('passes what is right', () => {
    expect(() => judged(answer(304, '') + answer(200, '', 'connection: close\r\n'))).not.toThrow();
  });
});
