import { inspect } from 'node:util';
import { problem } from '../fixtures/scripted-broker.js';
import {
  answerLost,
  deadSessionCode,
  GatewayUnreachable,
  SessionBrokerError,
  SessionRejected,
} from './entries/main.js';

const MAX_LINES = 5;
const withoutStack = (error: unknown): string => inspect(error).replace(/\n +at [^\n]*/g, '');
const thrownBy = (lose: () => never): Error => {
  try {
    return lose();
  } catch (error) {
    return error as Error;
  }
};

describe('an error whose cause is an answer', () => {
  const page = new Response('<html>canary', {
    status: 403,
    headers: { 'content-type': 'text/html; charset=utf-8', 'set-cookie': 'canary' },
  });

  it('is printed in a few lines, where it is no gateway that answers', async () => {
    const answer = problem(404, 'route_not_found');
    const failure = thrownBy(() => {
      return answerLost({ type: 'urn:session-broker:problem:route_not_found', code: 'route_not_found' }, answer);
    });
    expect(failure).toBeInstanceOf(GatewayUnreachable);
    expect(failure.cause).toBe(answer);
    const printed = withoutStack(failure);
    expect(printed).toContain(`GatewayUnreachable: ${failure.message}`);
    expect(printed).toContain("code: 'not_the_gateway'");
    expect(printed).toContain("[cause]: { status: 404, contentType: 'application/problem+json' }");
    expect(printed.split('\n').length).toBeLessThanOrEqual(MAX_LINES);
    await expect(answer.json()).resolves.toMatchObject({ code: 'route_not_found' });
  });

  it('is printed so where an egress refuses a session', async () => {
    const body = JSON.stringify({ serviceId: 'session-egress', msgCode: 'b_session_doesnt_exist' });
    const failure = await deadSessionCode(new Response(body, { status: 401 })).catch((error: unknown) => error);
    expect(failure).toMatchObject({ code: 'not_the_gateway' });
    const printed = withoutStack(failure);
    expect(printed).toContain("[cause]: { status: 401, contentType: 'text/plain' }");
    expect(printed.split('\n').length).toBeLessThanOrEqual(MAX_LINES);
  });

  it.each([
    ['whose answer is a page', () => thrownBy(() => answerLost(page))],
    ['whose session was refused', () => new SessionRejected('http_401', { cause: page })],
  ])('is printed without headers and body: %s', (_what, failureOf) => {
    const failure = failureOf();
    for (const options of [{}, { depth: 10, showHidden: true }])
      expect(inspect(failure, options)).not.toMatch(/canary/);
    expect(withoutStack(failure)).toContain("[cause]: { status: 403, contentType: 'text/html' }");
    expect(failure).toBeInstanceOf(SessionBrokerError);
    expect(failure.cause).toBe(page);
  });

  it.each([
    ['it is no gateway that answers', 404, { type: 'urn:session-broker:problem:route_not_found' }],
    ['nobody knows', 500, {}],
  ])(
    'is short where it ends a process, too, which prints it without its own ways of printing: %s',
    (_why, status, read) => {
      const answer = problem(status, 'route_not_found');
      const failure = thrownBy(() => answerLost(status === 404 ? read : answer, answer));
      const printed = inspect(failure, { customInspect: false, showHidden: true });
      expect(printed).not.toMatch(/Headers|ReadableStream|Response \{/);
      expect(printed).toContain(`status ${status}, application/problem+json`);
    },
  );

  it('is printed so within the error of a service, too', () => {
    const failure = new Error('no refund', { cause: thrownBy(() => answerLost(page)) });
    expect(inspect(failure)).toContain("[cause]: { status: 403, contentType: 'text/html' }");
  });

  it('keeps the cause of an error as it is printed everywhere, where that is no answer', () => {
    const failure = new SessionRejected('b_x', { cause: new RangeError('why') });
    expect(inspect(failure)).toContain('[cause]: RangeError: why');
  });
});
