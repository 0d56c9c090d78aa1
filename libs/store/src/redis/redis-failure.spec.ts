import { inspect } from 'node:util';
import { describeRedisError, storeUnavailable } from './redis-failure.js';

const named = (name: string, message: string, extra: object = {}): Error =>
  Object.assign(new Error(message), { name, ...extra });

describe('describeRedisError', () => {
  it.each<[string, unknown]>([
    ['no answer in time', new Error('Command timed out')],
    ['not connected', new Error("Stream isn't writeable and enableOfflineQueue options is false")],
    ['the connection was closed', new Error('Connection is closed.')],
    ['the connection was lost', named('MaxRetriesPerRequestError', 'Reached the max retries per request limit')],
    ['the connection went silent', new Error("Socket timeout. Expecting data, but didn't receive any in 2000ms.")],
    ['no sentinel can be reached', new Error('All sentinels are unreachable. Retrying from scratch after 10ms.')],
    ['no node of the cluster can be reached', named('ClusterAllFailedError', 'Failed to refresh slots cache.')],
    ['ECONNREFUSED', named('Error', 'connect ECONNREFUSED 10.0.0.1:6379', { code: 'ECONNREFUSED' })],
    ['READONLY', named('ReplyError', 'READONLY You can not write')],
    ['WRONGPASS', named('ReplyError', 'WRONGPASS invalid username-password pair')],
    ['ERR', named('ReplyError', 'ERR user_script:1: Script attempted something')],
    ['TypeError', new TypeError('something else')],
    ['an unknown failure', 'text'],
  ])('says %s', (expected, error) => {
    expect(describeRedisError(error)).toBe(expected);
  });
});

describe('storeUnavailable', () => {
  it('carries nothing of what the client library hangs on its errors', () => {
    const error = named('ReplyError', "ERR unknown command 'canary-1'", {
      command: { name: 'evalsha', args: ['canary-2'] },
      previousErrors: [new Error('canary-3')],
    });
    const wrapped = storeUnavailable('publish', error);
    expect(wrapped).toMatchObject({ code: 'store_unavailable', detail: 'publish: ERR' });
    expect(inspect(wrapped, { depth: Infinity, showHidden: true })).not.toContain('canary');
  });
});
