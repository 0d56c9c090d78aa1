import { PanelBuilder as StateTimelineBuilder } from '@grafana/grafana-foundation-sdk/statetimeline';
import { PanelBuilder as TableBuilder } from '@grafana/grafana-foundation-sdk/table';
import { egress, refusedShare } from './egress-panels.js';
import {
  ALERTS,
  BY_MERCHANT,
  BY_THRESHOLDS,
  type Colours,
  DATASOURCE,
  HALF,
  lines,
  MERCHANT,
  MERCHANT_LEGEND,
  NONE_IS_GREEN,
  perSecond,
  QUARTER,
  query,
  REPLICA,
  SHARE_REFUSED,
  THIRD,
  thresholds,
  TOP,
  verdict,
  withLimit,
  words,
} from './panel-builders.js';

const DAY_S = 86_400;
/** The conditions of docs/status-page.md, the worst last: each is shown as its place here, in the colours of that page. */
const CONDITIONS = ['fresh', 'failing', 'stale', 'dead', 'foreign_authorizer', 'unavailable'] as const;
const FIRST_RED = CONDITIONS.indexOf('dead');
const CONDITION_COLOURS: Colours = ['green', [1, 'orange'], [FIRST_RED, 'red']];

/** How each merchant is, by the replica that knows worst, as the alerts judge it: without a session is who has none on any. */
const condition = `max by (${BY_MERCHANT}) (${CONDITIONS.slice(1)
  .map((state, index) => {
    const over = state === 'unavailable' ? 'min' : 'max';
    return `${index + 1} * ${over} by (${BY_MERCHANT}, state) (session_broker_merchant_state{${MERCHANT}, state="${state}"})`;
  })
  .join(' or ')})`;

const bestOf = (gauge: string): string => `max by (${BY_MERCHANT}) (session_broker_${gauge}{${MERCHANT}})`;
const expiry = bestOf('session_expiry_timestamp_seconds');

const now = [
  verdict(
    {
      title: 'Worst condition',
      description: 'Of all merchants. Red: payments fail, or may fail now. Orange: they go on until the session ends.',
      unit: 'none',
      colours: CONDITION_COLOURS,
    },
    QUARTER,
    `max(${condition})`,
  ).mappings([words(...CONDITIONS)]),
  verdict(
    {
      title: 'Merchants in red',
      description: 'Their payments fail, or may fail now.',
      unit: 'none',
      colours: NONE_IS_GREEN,
    },
    QUARTER,
    `count(${condition} >= ${FIRST_RED}) or count(${condition}) * 0`,
  ),
  verdict(
    {
      title: 'Least lead time left',
      description:
        'Of the time that renewals are given before a session ends, what the worst merchant has left. 100 %: none is due. Below 70 % is an alert; at zero the session has ended.',
      unit: 'percentunit',
      colours: ['red', [0, 'orange'], [0.7, 'green']],
    },
    QUARTER,
    `min(clamp_max((${expiry} - time()) / (${expiry} - ${bestOf('session_renew_timestamp_seconds')}), 1))`,
  ),
  verdict(
    { title: 'Store', description: 'As the replica sees it that sees it worst.', unit: 'none', colours: NONE_IS_GREEN },
    QUARTER,
    `max(1 - session_broker_store_up{${REPLICA}} + session_broker_store_refusing{${REPLICA}})`,
  ).mappings([words('answers', 'silent', 'refuses')]),
  verdict(
    {
      title: 'Scraped',
      description: 'Replicas and egresses that answer a scrape, of the namespace where the fewest do.',
      unit: 'percentunit',
      colours: ['red', [0.001, 'orange'], [1, 'green']],
    },
    QUARTER,
    `min(avg by (cluster, namespace, job) (up{${REPLICA}, job=~"(.+/)?session-(broker|egress)"}))`,
  ),
  verdict(
    {
      title: 'Next certificate to end',
      description: 'Of broker and egress. A warning at 14 days, critical at two.',
      unit: 's',
      colours: ['red', [2 * DAY_S, 'orange'], [14 * DAY_S, 'green']],
    },
    QUARTER,
    `min({__name__=~"session_(broker|egress)_certificate_expiry_timestamp_seconds", ${REPLICA}}) - time()`,
  ),
  new TableBuilder()
    .title('Alerts')
    .description('What fires, or is about to. docs/runbooks/README.md has the runbook of each.')
    .unit('none')
    .noValue('none')
    .span(HALF)
    .height(6)
    .datasource(DATASOURCE)
    .withTransformation({ id: 'organize', options: { excludeByName: { Time: true, Value: true } } })
    .withTarget(
      query({
        expr: `max by (alertname, severity, alertstate, ${BY_MERCHANT}, instance) (${ALERTS}})`,
        instant: true,
        format: 'table',
      }),
    ),
];

const objectives = [
  refusedShare,
  verdict(
    {
      title: 'Reads refused',
      description: 'Share of reads that were answered 503, of the merchant with the greatest.',
      unit: 'percentunit',
      colours: SHARE_REFUSED,
    },
    THIRD,
    `max(sum by (${BY_MERCHANT}) (increase(session_broker_reads_total{${MERCHANT}, result="unavailable"}[$__range])) / (sum by (${BY_MERCHANT}) (increase(session_broker_reads_total{${MERCHANT}}[$__range])) > 0))`,
  ).noValue('no reads'),
  verdict(
    {
      title: 'Time without a session',
      description:
        'How long a merchant was in red in the time that is shown: of the one for which it was longest. Without a replica nobody counts it.',
      unit: 's',
      colours: NONE_IS_GREEN,
    },
    THIRD,
    `max(avg_over_time((${condition} >= bool ${FIRST_RED})[$__range:$__interval])) * $__range_s`,
  ),
];

const sessions = [
  new StateTimelineBuilder()
    .title('Condition, worst first')
    .description(`Of the ${TOP} merchants that are worst off: what it means is in docs/status-page.md.`)
    .unit('none')
    .span(HALF)
    .height(8)
    .datasource(DATASOURCE)
    .thresholds(thresholds(CONDITION_COLOURS))
    .colorScheme(BY_THRESHOLDS)
    .mappings([words(...CONDITIONS)])
    .withTarget(query({ expr: `topk(${TOP}, ${condition})`, legend: MERCHANT_LEGEND })),
  lines(
    {
      title: 'Time to expiry, least first',
      description: `Of the ${TOP} merchants with the least time left, by the best that any replica holds. A saw tooth is a renewal; a line that reaches zero is a merchant that stands still.`,
      unit: 's',
    },
    HALF,
    { expr: `bottomk(${TOP}, ${expiry} - time())`, legend: MERCHANT_LEGEND },
  ),
];

const renewals = [
  lines(
    { title: 'Renewals by outcome', description: 'Attempts that called the gateway.', unit: 'ops' },
    HALF,
    perSecond('renewals', 'outcome'),
  ),
  lines({ title: 'Failures of the gateway', description: "By kind and the gateway's own code.", unit: 'ops' }, HALF, {
    expr: `topk(${TOP}, sum by (kind, code) (rate(session_broker_gateway_failures_total{${MERCHANT}}[$__rate_interval])))`,
    legend: '{{kind}} {{code}}',
  }),
  lines(
    {
      title: 'Create calls in an hour',
      description: 'Of the merchants with the most. Each call can end the session before it.',
      unit: 'none',
    },
    THIRD,
    {
      expr: `topk(${TOP}, sum by (${BY_MERCHANT}) (increase(session_broker_renewals_total{${MERCHANT}}[1h])))`,
      legend: MERCHANT_LEGEND,
    },
  ),
  lines(
    { title: 'Renewal latency', description: 'From the lease to the end of the attempt.', unit: 's' },
    THIRD,
    ...[0.5, 0.99].map((quantile) => ({
      expr: `histogram_quantile(${quantile}, sum by (le) (rate(session_broker_renewal_duration_seconds_bucket{${MERCHANT}}[$__rate_interval])))`,
      legend: `p${quantile * 100}`,
    })),
  ),
  lines(
    {
      title: 'Hand-overs',
      description:
        'Planned renewals that asked consumers to hold their calls. `limit` and `cut` end the session under calls that still run; `nobody` is a merchant whose consumers do not take part.',
      unit: 'ops',
    },
    THIRD,
    perSecond('handovers', 'outcome'),
  ),
];

const consumers = [
  lines(
    {
      title: 'Reads by result',
      description: 'Fresh: before the margin. Stale: past it, and served all the same. Unavailable: 503.',
      unit: 'reqps',
    },
    THIRD,
    perSecond('reads', 'result'),
  ),
  lines(
    { title: 'Rejections', description: 'Sessions that consumers reported as dead, by what came of it.', unit: 'ops' },
    THIRD,
    perSecond('rejections', 'result'),
  ),
  lines(
    { title: 'Refused credentials', description: 'Authentications that failed, by reason.', unit: 'ops' },
    THIRD,
    perSecond('authentication_failures', 'reason', REPLICA),
  ),
];

const generation = `session_broker_replica_generation{${MERCHANT}}`;

const replicas = [
  withLimit(
    lines(
      {
        title: 'Store latency, p99',
        description: 'Of all operations, by the store of each namespace. Above the line for ten minutes is an alert.',
        unit: 's',
      },
      THIRD,
      {
        expr: `histogram_quantile(0.99, sum by (cluster, namespace, le) (rate(session_broker_store_operation_duration_seconds_bucket{${REPLICA}}[$__rate_interval])))`,
        legend: '{{cluster}} {{namespace}}',
      },
    ),
    0.1,
  ),
  lines(
    { title: 'Store errors', description: 'Operations that the store did not answer.', unit: 'ops' },
    THIRD,
    perSecond('store_errors', 'operation', REPLICA),
  ),
  withLimit(
    lines(
      {
        title: 'Clock of the gateway',
        description:
          'How far it is ahead of ours (or behind, as a positive number), for the merchants with the most. Above the line is an alert.',
        unit: 's',
      },
      THIRD,
      {
        expr: `topk(${TOP}, max by (${BY_MERCHANT}) (abs(session_broker_gateway_clock_skew_seconds{${MERCHANT}})))`,
        legend: MERCHANT_LEGEND,
      },
    ),
    2,
  ),
  lines(
    {
      title: 'Replicas that lag',
      description: 'Merchants of which each replica holds an older session than another one.',
      unit: 'none',
    },
    HALF,
    {
      expr: `count by (cluster, namespace, instance) (${generation} < on (${BY_MERCHANT}) group_left () max by (${BY_MERCHANT}) (${generation})) or count by (cluster, namespace, instance) (session_broker_watchers{${REPLICA}}) * 0`,
      legend: '{{cluster}} {{namespace}} {{instance}}',
    },
  ),
  new TableBuilder()
    .title('Build')
    .description('What runs where, by version.')
    .unit('none')
    .span(HALF)
    .height(8)
    .datasource(DATASOURCE)
    .withTransformation({ id: 'organize', options: { excludeByName: { Time: true, Value: true } } })
    .withTarget(
      query({
        expr: `max by (cluster, namespace, instance, version, node) (session_broker_build_info{${REPLICA}})`,
        instant: true,
        format: 'table',
      }),
    ),
];

/** The panels by row, in order. */
export const rows = {
  Now: now,
  Objectives: objectives,
  Sessions: sessions,
  Renewals: renewals,
  Consumers: consumers,
  Egress: egress,
  'Store and replicas': replicas,
};
export type Rows = typeof rows;
