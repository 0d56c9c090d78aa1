import { errorCodes, type ErrorCode } from '#libs/errors';
import { demand, type WireAnswer } from './answers.js';

interface Problem {
  readonly type?: unknown;
  readonly title?: unknown;
  readonly status?: unknown;
  readonly code?: unknown;
  readonly requestId?: unknown;
}

/** Codes of failures of our own: no request, however wild, may cause them. */
const OURS: ReadonlySet<string> = new Set(['internal_error', 'helper_forbidden', 'configuration_invalid']);

/** @param declares whether an answer that is not a problem document may have this status */
export function judgeAnswer(answer: WireAnswer, declares: (status: number) => boolean): void {
  const { status, headers, body } = answer;
  if (headers.get('content-type')?.startsWith('application/problem+json') === true) {
    if (body !== '') judgeProblem(status, body);
    return;
  }
  demand(status < 400 || body === '' || declares(status), `${status} is told of in a problem document`);
  demand(status < 500 || declares(status), `${status} is declared`);
}

function judgeProblem(status: number, body: string): void {
  const problem = JSON.parse(Buffer.from(body, 'latin1').toString('utf8')) as Problem;
  const code = String(problem.code);
  demand(Object.hasOwn(errorCodes, code), `${code} is a code of the registry`);
  demand(!OURS.has(code), `${code} is brought about by no request`);
  const entry = errorCodes[code as ErrorCode];
  demand(entry.status === status && problem.status === status, `${code} has its status, not ${status}`);
  demand(problem.title === entry.title, `${code} has its title`);
  demand(typeof problem.requestId === 'string' && problem.requestId !== '', `${code} names the request`);
}
