import { HALF, lines, MERCHANT, REPLICA, THIRD, TOP } from './panel-builders.js';

/** What the egress does for clients that use the broker without changing a line. */
export const egress = [
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
      title: 'Payments whose fate nobody knows',
      description: 'Of the merchants with the most. Each has a record in the audit, to be asked for at the bank.',
      unit: 'none',
    },
    THIRD,
    {
      expr: `topk(${TOP}, sum by (merchant) (increase(session_egress_requests_total{${MERCHANT}, outcome=~"unknown|unopened"}[$__rate_interval])))`,
      legend: '{{merchant}}',
    },
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
  lines(
    {
      title: 'Held for a hand-over',
      description: 'Requests that waited a moment for the session to be changed, instead of being refused under it.',
      unit: 'ops',
    },
    THIRD,
    {
      expr: `sum(rate(session_egress_held_requests_total{${MERCHANT}}[$__rate_interval])) or vector(0)`,
      legend: 'held',
    },
  ),
  lines({ title: 'Egress requests in flight', description: 'Being served now, by each egress.', unit: 'none' }, THIRD, {
    expr: `sum by (instance) (session_egress_in_flight{${REPLICA}})`,
    legend: '{{instance}}',
  }),
  lines(
    {
      title: 'Egress time to expiry, least first',
      description: `Of the ${TOP} merchants with the least time left, by the egress that holds the oldest session. At zero its clients are answered 503.`,
      unit: 's',
    },
    HALF,
    {
      expr: `bottomk(${TOP}, min by (merchant) (session_egress_session_expiry_timestamp_seconds{${MERCHANT}}) - time())`,
      legend: '{{merchant}}',
    },
  ),
  lines(
    {
      title: 'Egress following',
      description:
        'One: newer sessions of every merchant come by themselves. Zero: the broker is away, for one at least.',
      unit: 'none',
    },
    HALF,
    { expr: `min by (instance) (session_egress_following{${MERCHANT}})`, legend: '{{instance}}' },
  ),
  lines(
    {
      title: 'Alias sessions',
      description:
        'Create calls of clients that authorize for themselves, answered without the bank, and those refused.',
      unit: 'ops',
    },
    HALF,
    {
      expr: `topk(${TOP}, sum by (client, result) (rate(session_egress_alias_sessions_total{${REPLICA}}[$__rate_interval])))`,
      legend: '{{client}} {{result}}',
    },
  ),
];
