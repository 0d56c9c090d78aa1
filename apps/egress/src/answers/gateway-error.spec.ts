import { BrokerError, type ErrorCode, errorCodes } from '#libs/errors';
import { deadSessionCode } from '#libs/client';
import { gatewayErrorOf } from './gateway-error.js';

const codes = Object.keys(errorCodes) as ErrorCode[];

describe('a failure of ours for a client of the gateway', () => {
  it('has the form of the gateway, our code and its constant title', () => {
    const error = new BrokerError('answer_late', { detail: 'after 30 s' });
    expect(gatewayErrorOf(error, 'request-1')).toEqual({
      status: 504,
      body: JSON.stringify({
        requestId: 'request-1',
        serviceId: 'session-egress',
        msgCode: 'answer_late',
        msgType: 'ERROR',
        msgText: errorCodes.answer_late.title,
        isLocalized: false,
        msgAttrs: {},
        errorCauses: [],
      }),
    });
  });

  it.each(codes)('tells nothing but its title and status: %s', (code) => {
    const cause = new Error('canary');
    const written = gatewayErrorOf(new BrokerError(code, { detail: 'canary', publicDetail: 'canary', cause }), 'r');
    expect(written.status).toBe(errorCodes[code].status);
    expect(written.body).not.toContain('canary');
  });

  it('makes a client create another session when it has none that is valid, and for no other reason', () => {
    const verdicts = codes.map((code) => {
      const { msgCode } = JSON.parse(gatewayErrorOf(new BrokerError(code), 'r').body) as { msgCode: string };
      return [code, deadSessionCode({ msgCode })] as const;
    });
    expect(verdicts.filter(([, verdict]) => verdict !== undefined)).toEqual([
      ['unauthenticated', 'b_session_doesnt_exist'],
    ]);
  });
});
