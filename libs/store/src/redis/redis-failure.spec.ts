import { inspect } from 'node:util';
import { judgeRedisError, storeFailure } from './redis-failure.js';

const named = (name: string, message: string, extra: object = {}): Error =>
  Object.assign(new Error(message), { name, ...extra });
const alert = (name: string): Error => named('Error', 'error:0A000410:SSL routines', { code: `ERR_SSL_${name}` });
const reply = (message: string): Error => named('ReplyError', message);

describe('judgeRedisError', () => {
  it.each<[string, unknown]>([
    ['no answer in time', new Error('Command timed out')],
    ['not connected', new Error("Stream isn't writeable and enableOfflineQueue options is false")],
    ['the connection was closed', new Error('Connection is closed.')],
    ['the connection was lost', named('MaxRetriesPerRequestError', 'Reached the max retries per request limit')],
    ['the connection went silent', new Error("Socket timeout. Expecting data, but didn't receive any in 2000ms.")],
    ['what answers is not Redis', new Error('Unknown RESP type 72 "H". Please report this.')],
    ['no sentinel names a primary', new Error('All sentinels are unreachable. Retrying from scratch after 10ms.')],
    ['no node of the cluster can be reached', named('ClusterAllFailedError', 'Failed to refresh slots cache.')],
    ['ECONNREFUSED', named('Error', 'connect ECONNREFUSED 10.0.0.1:6379', { code: 'ECONNREFUSED' })],
    ['TypeError', new TypeError('something else')],
    ['an unknown failure', 'text'],
  ])('takes for silence: %s', (reason, error) => {
    expect(judgeRedisError(error)).toEqual({ kind: 'silent', reason });
  });

  it.each<[string, unknown]>([
    ...['READONLY', 'OOM', 'MISCONF', 'BUSY', 'LOADING', 'NOAUTH', 'CLUSTERDOWN', 'MASTERDOWN', 'NOREPLICAS'].map(
      (code): [string, unknown] => [code, reply(`${code} and more`)],
    ),
    ['WRONGPASS', reply('WRONGPASS invalid username-password pair')],
    ['WRONGTYPE', reply('WRONGTYPE Operation against a key script: 11d5, on @user_script:1.')],
    ['MAXCLIENTS', reply('ERR max number of clients reached')],
    ['NOPERM', reply("ERR The user executing the script can't run this command or subcommand script: 11d5")],
    ...['ERR DB index is out of range', 'ERR SELECT is not allowed in cluster mode', '-ERR invalid DB index'].map(
      (message): [string, unknown] => ['no database of that number', reply(message)],
    ),
    ['ERR', reply('ERR user_script:1: Script attempted something')],
    ['ERR', reply('something in lower case')],
    ['NOAUTH', named('ClusterAllFailedError', 'Failed to refresh slots cache.', { lastNodeError: reply('NOAUTH no') })],
    ['CERT_HAS_EXPIRED', named('Error', 'certificate has expired', { code: 'CERT_HAS_EXPIRED' })],
    ['Redis asks for a certificate of the broker', alert('TLSV13_ALERT_CERTIFICATE_REQUIRED')],
    ['Redis refuses the TLS handshake', alert('SSLV3_ALERT_HANDSHAKE_FAILURE')],
    ['Redis refuses the TLS handshake', alert('SSL/TLS_ALERT_HANDSHAKE_FAILURE')],
    ['Redis refuses the TLS handshake', alert('TLSV1_ALERT_INTERNAL_ERROR')],
    ['Redis does not take the certificate of the broker', alert('TLSV1_ALERT_UNKNOWN_CA')],
    ['Redis does not take the certificate of the broker', alert('SSL/TLS_ALERT_CERTIFICATE_EXPIRED')],
    ['Redis does not take the certificate of the broker', alert('SSLV3_ALERT_BAD_CERTIFICATE')],
    ['Redis refuses the TLS handshake', alert('TLSV1_ALERT_PROTOCOL_VERSION')],
    ['ERR_SSL_WRONG_VERSION_NUMBER', alert('WRONG_VERSION_NUMBER')],
  ])('takes for a refusal: %s', (reason, error) => {
    expect(judgeRedisError(error)).toEqual({ kind: 'refuses', reason });
  });
});

describe('storeFailure', () => {
  it('carries nothing of what the client library hangs on its errors', () => {
    const error = named('ReplyError', "ERR unknown command 'canary-1'", {
      command: { name: 'evalsha', args: ['canary-2'] },
      previousErrors: [new Error('canary-3')],
    });
    const wrapped = storeFailure('publish', judgeRedisError(error));
    expect(wrapped).toMatchObject({ code: 'store_refused', detail: 'publish: ERR' });
    expect(inspect(wrapped, { depth: Infinity, showHidden: true })).not.toContain('canary');
    expect(storeFailure('due', { kind: 'silent', reason: 'x' })).toMatchObject({ code: 'store_unavailable' });
  });
});
