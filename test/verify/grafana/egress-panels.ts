import {
  BY_MERCHANT,
  grown,
  lines,
  MERCHANT,
  NONE_IS_GREEN,
  REPLICA,
  SHARE_REFUSED,
  THIRD,
  verdict,
} from './panel-builders.js';

const requests = (outcome: string): string => grown(`session_egress_requests_total{${MERCHANT}, outcome${outcome}}`);
const following = `session_egress_following{${MERCHANT}}`;
const expiry = `session_egress_session_expiry_timestamp_seconds{${MERCHANT}}`;

const payments = `sum by (${BY_MERCHANT}) (${requests('!="refused"')})`;
/** Of each merchant that has payments, none included. */
const of = (counted: string): string => `(sum by (${BY_MERCHANT}) (${counted}) or ${payments} * 0)`;
/** Each repeat was preceded by an answer by which the session was dead. The other such answers went to the client. */
const refused = [
  of(grown(`session_egress_dead_sessions_total{${MERCHANT}}`)),
  ' - ',
  of(grown(`session_egress_repeats_total{${MERCHANT}}`)),
  ' + ',
  of(requests('="no_session"')),
].join('');

export const refusedShare = verdict(
  {
    title: 'Payments refused for their session',
    description:
      'Share of the payments through an egress that failed because there was no session, or a dead one that a repeat did not make good; of the merchant with the greatest. The marks of renewals show which of them were around one.',
    unit: 'percentunit',
    colours: SHARE_REFUSED,
  },
  THIRD,
  `max(clamp_min(${refused}, 0) / (${payments} > 0))`,
).noValue('no payments');

/** What the egress does for clients that use the broker without changing a line. */
export const egress = [
  verdict(
    {
      title: 'Egress without a session',
      description: 'Merchants for which an egress has none: their clients are answered 503.',
      unit: 'none',
      colours: NONE_IS_GREEN,
    },
    THIRD,
    `count(${expiry} <= time() or ${following} unless ${expiry}) or count(${following}) * 0`,
  ),
  verdict(
    {
      title: 'Egress not following',
      description: 'Merchants of which an egress hears nothing new: it pays on with the session that it holds.',
      unit: 'none',
      colours: ['green', [1, 'orange']],
    },
    THIRD,
    `count(${following} == 0) or count(${following}) * 0`,
  ),
  verdict(
    {
      title: 'Payments whose fate nobody knows',
      description: 'Each has a record in the audit, to be asked for at the bank.',
      unit: 'none',
      colours: NONE_IS_GREEN,
    },
    THIRD,
    `sum(${requests('=~"unknown|unopened"')}) or count(${following}) * 0`,
  ),
  lines(
    {
      title: 'Payments through the egress',
      description:
        'By outcome. `answered` is whatever the gateway said. Of `unknown` and `unopened` nobody can tell the client what became of them.',
      unit: 'reqps',
    },
    THIRD,
    {
      expr: `sum by (outcome) (rate(session_egress_requests_total{${MERCHANT}}[$__rate_interval]))`,
      legend: '{{outcome}}',
    },
  ),
  lines(
    {
      title: 'Egress latency',
      description: 'From the head of a request to the end of its answer, the gateway included; refused ones left out.',
      unit: 's',
    },
    THIRD,
    ...[0.5, 0.99].map((quantile) => ({
      expr: `histogram_quantile(${quantile}, sum by (le) (rate(session_egress_request_duration_seconds_bucket{${REPLICA}, outcome!="refused"}[$__rate_interval])))`,
      legend: `p${quantile * 100}`,
    })),
  ),
  lines(
    {
      title: 'Dead sessions and repeats',
      description: 'Answers by which a session was found dead, by code, and requests that were sent again for it.',
      unit: 'ops',
    },
    THIRD,
    {
      expr: `sum by (code) (rate(session_egress_dead_sessions_total{${MERCHANT}}[$__rate_interval]))`,
      legend: '{{code}}',
    },
    {
      expr: `sum(rate(session_egress_repeats_total{${MERCHANT}}[$__rate_interval])) or vector(0)`,
      legend: 'repeated',
    },
  ),
];
