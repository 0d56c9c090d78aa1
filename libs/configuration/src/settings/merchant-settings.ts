import { clientKey, fileOf, recipientKey, serviceCode } from '../file-contents.js';
import { flag, flagOr, list, oneOf, section, text, texts, wholeNumber } from '../setting.js';
import * as rule from '../value-rule.js';
import { gatewayProxy, gatewayTls, gatewayUrl } from './process-settings.js';

const requestData = {
  attach: oneOf(['none', 'body', 'header'], 'none').says(
    'How the session request data is sent. The interface description leaves this open.',
  ),
  name: text(rule.attachmentName).optional.says(
    'The body member or header that carries it; required unless `attach` is `none`.',
  ),
  recipientKeyFile: text(fileOf(recipientKey)).optional.says(
    'The public JWK that it is encrypted to; required unless `attach` is `none`.',
  ),
};

const gateway = {
  baseUrl: gatewayUrl,
  environment: oneOf(['production', 'test'], 'production').says(
    '`test` allows `testBaseUrl` and needs client keys of its own.',
  ),
  testBaseUrl: text(rule.baseUrl).optional.says('Where the test-only helper requests go; only with `test`.'),
  timeoutMs: text(rule.durationBetween('100ms', '60s'), '5s').says(
    'How long a create-session call may take as a whole.',
  ),
  requestData: section(requestData),
  supersedes: flagOr('unknown', true).says(
    'Whether a new session ends the one before it. According to the published interface, it does.',
  ),
  largestClockSkewMs: text(rule.durationBetween('2s', '1d'), '5m').says(
    "If the gateway's clock differs from ours by more than this, it is not trusted: an expiry is read by both clocks, and the earlier moment that is still to come counts.",
  ),
  tls: gatewayTls,
  proxy: gatewayProxy,
};

/** The hours in which a renewal disturbs the least. */
const quietHours = {
  from: text(rule.timeOfDay).says('When they begin, in local time.'),
  to: text(rule.timeOfDay).says('When they end; on the next day if that is earlier than `from`.'),
  timeZone: text(rule.timeZone).says('The time zone of `from` and `to`, daylight saving included.'),
};

/** A hard stop: a short window against storms, a long one against a mistake that repeats all day. */
const budgetWindow = {
  calls: wholeNumber(1, 1_000).says('Maximum number of create calls in any period of the length `per`.'),
  perMs: text(rule.durationBetween('1s', '7d')).says('The length of that period; different for each window.'),
};

const lifetime = rule.durationBetween('1s', '365d');

const session = {
  renewBefore: text(rule.leadTime).optional.says(
    'How long before expiry to renew. Default: 20 %, or 5m if that is less and there are quiet hours; at least two gateway timeouts.',
  ),
  renewEveryMs: text(rule.durationBetween('1m', '365d')).optional.says(
    'The age at which to renew, however long a session lives; at least twice `renewBefore`.',
  ),
  quietHours: section(quietHours).optional,
  safetyMargin: text(rule.leadTime).optional.says(
    'How long before expiry a session stops being fresh; less than `renewBefore`. Default: 5 %, at most 30 s.',
  ),
  fallbackLifetimeMs: text(lifetime, '8h').says(
    'Lifetime of a session that names no expiry, from when the request was sent.',
  ),
  longestLifetimeMs: text(lifetime, '1d').says('No session is believed to live longer. At least `fallbackLifetime`.'),
  handoverMs: text(rule.durationBetween('0s', '5s'), '1s').says(
    'How long a planned renewal waits while consumers hold new calls and let running ones end. `0s`: it does not wait.',
  ),
  foreignAuthorizerPauseMs: text(rule.durationBetween('10s', '1d'), '10m').says(
    'While somebody else creates sessions of the merchant, rejections create at most one in this time.',
  ),
  budget: list(budgetWindow, {
    ...{ least: 1, most: 4 },
    byDefault: [{ calls: 20, per: '10m' }],
  }).says(
    'Limits on create calls, over all replicas and restarts. Every window applies; early renewals, such as those after a rejection, may use 75 % of it. [A window of a day](../configuration.md#the-create-call-budget) follows from the length of the sessions, unless one is given.',
  ),
};

export const merchant = {
  id: text(rule.merchantId).says("Unique. Part of the API's paths."),
  serviceCode: text(rule.uuid).optional.says('The UUID that the bank assigned; unique. This or `serviceCodeFile`.'),
  serviceCodeFile: text(fileOf(serviceCode)).optional.says('A file that holds the serviceCode and nothing else.'),
  clientKeyFiles: texts(fileOf(clientKey), 1).says(
    'Private JWKs, or public ones that name an HSM; newest first: the first is in use, the rest only open what was sealed to them. Never shared between production and test.',
  ),
  required: flag(true).says('Whether the replica is ready only once this merchant has a session to serve.'),
  gateway: section(gateway),
  session: section(session),
};
