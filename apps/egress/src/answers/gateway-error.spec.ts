import { BrokerError, type ErrorCode, errorCodes } from '#libs/errors';
import { deadSessionCode } from '#libs/client';
import { gatewayErrorOf } from './gateway-error.js';

const codes = Object.keys(errorCodes) as ErrorCode[];

describe('a failure of ours for a client of the gateway', () => {
  it('has the form of the gateway, our code and its constant title', () => {
    const error = new BrokerError('answer_late', { detail: 'after 30 s' });
    expect(gatewayErrorOf(error, 'request-1')).toEqual({
      requestId: 'request-1',
      serviceId: 'session-egress',
      msgCode: 'answer_late',
      msgType: 'ERROR',
      msgText: errorCodes.answer_late.title,
      isLocalized: false,
      msgAttrs: {},
      errorCauses: [],
    });
  });

  it.each(codes)('tells its title and what was written for the caller, and nothing else: %s', (code) => {
    const cause = new Error('canary');
    const told = gatewayErrorOf(new BrokerError(code, { detail: 'canary', publicDetail: 'what to do', cause }), 'r');
    expect(told).toMatchObject({ msgText: `${errorCodes[code].title}: what to do` });
    expect(JSON.stringify(told)).not.toContain('canary');
  });

  it('makes a client create another session when it has none that is valid, and for no other reason', () => {
    const verdicts = codes.map((code) => {
      const { msgCode } = gatewayErrorOf(new BrokerError(code), 'r') as { msgCode: string };
      return [code, deadSessionCode({ msgCode })] as const;
    });
    expect(verdicts.filter(([, verdict]) => verdict !== undefined)).toEqual([['unauthenticated', 'b_used_token']]);
  });
});
