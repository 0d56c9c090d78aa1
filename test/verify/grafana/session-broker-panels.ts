import { PanelBuilder as HeatmapBuilder } from '@grafana/grafana-foundation-sdk/heatmap';
import { PanelBuilder as TableBuilder } from '@grafana/grafana-foundation-sdk/table';
import { egress } from './egress-panels.js';
import { DATASOURCE, HALF, lines, MERCHANT, number, perSecond, query, REPLICA, THIRD, TOP } from './panel-builders.js';

const health = [
  number(
    {
      title: 'Least time left',
      description: 'Of all sessions: until the first of them ends. Below zero: it has ended.',
      unit: 's',
    },
    {
      expr: `min(max by (namespace, merchant) (session_broker_session_expiry_timestamp_seconds{${MERCHANT}})) - time()`,
    },
  ),
  number(
    { title: 'Merchants without a session', description: 'Their reads are answered 503.', unit: 'none' },
    {
      expr: `count(max by (namespace, merchant) (session_broker_session_expiry_timestamp_seconds{${MERCHANT}}) <= time()) or vector(0)`,
    },
  ),
  number(
    {
      title: 'Reads with margin',
      description:
        'Share of reads that were answered with a session that has its margin before it. The promise is 99.9 %.',
      unit: 'percentunit',
    },
    {
      expr: `sum(rate(session_broker_reads_total{${MERCHANT}, result="fresh"}[$__range])) / sum(rate(session_broker_reads_total{${MERCHANT}}[$__range]))`,
    },
  ),
  number(
    { title: 'Replicas', description: 'Replicas that are scraped.', unit: 'none' },
    { expr: `count(session_broker_watchers{${REPLICA}})` },
  ),
];

const sessions = [
  lines(
    {
      title: 'Time to expiry, least first',
      description: `Of the ${TOP} merchants with the least time left, by the best that any replica holds. A saw tooth is a renewal; a line that reaches zero is a merchant that stands still.`,
      unit: 's',
    },
    HALF,
    {
      expr: `bottomk(${TOP}, max by (merchant) (session_broker_session_expiry_timestamp_seconds{${MERCHANT}}) - time())`,
      legend: '{{merchant}}',
    },
  ),
  lines(
    {
      title: 'Time since the renewal was due',
      description: 'How far behind the planned moment the worst merchants are. Zero unless renewals fail.',
      unit: 's',
    },
    HALF,
    {
      expr: `topk(${TOP}, clamp_min(time() - max by (merchant) (session_broker_session_renew_timestamp_seconds{${MERCHANT}}), 0))`,
      legend: '{{merchant}}',
    },
  ),
  lines(
    {
      title: 'Create calls in an hour',
      description: 'Of the merchants with the most. Each call can end the session before it.',
      unit: 'none',
    },
    HALF,
    {
      expr: `topk(${TOP}, sum by (merchant) (increase(session_broker_renewals_total{${MERCHANT}}[1h])))`,
      legend: '{{merchant}}',
    },
  ),
  lines(
    {
      title: 'Create calls against the ideal',
      description: 'Calls of an hour divided by one call per renewal. One is ideal; two is an alert.',
      unit: 'none',
    },
    HALF,
    {
      expr: `topk(${TOP}, sum by (merchant) (increase(session_broker_renewals_total{${MERCHANT}}[1h])) / (3600 / (max by (merchant) (session_broker_session_renew_timestamp_seconds{${MERCHANT}}) - max by (merchant) (session_broker_last_success_timestamp_seconds{${MERCHANT}}))))`,
      legend: '{{merchant}}',
    },
  ),
];

const renewals = [
  lines(
    { title: 'Renewals by outcome', description: 'Attempts that called the gateway.', unit: 'ops' },
    THIRD,
    perSecond('renewals', 'outcome'),
  ),
  lines(
    {
      title: 'Renewals by trigger',
      description: 'Schedule is the rule; demand and rejection are what consumers cause.',
      unit: 'ops',
    },
    THIRD,
    perSecond('renewals', 'trigger'),
  ),
  lines(
    { title: 'Renewal latency', description: 'From the lease to the end of the attempt.', unit: 's' },
    THIRD,
    ...[0.5, 0.9, 0.99].map((quantile) => ({
      expr: `histogram_quantile(${quantile}, sum by (le) (rate(session_broker_renewal_duration_seconds_bucket{${MERCHANT}}[$__rate_interval])))`,
      legend: `p${quantile * 100}`,
    })),
  ),
  new HeatmapBuilder()
    .title('Renewal latency, all attempts')
    .description('How many attempts took how long.')
    .unit('s')
    .span(HALF)
    .height(8)
    .datasource(DATASOURCE)
    .calculate(false)
    .withTarget(
      query({
        expr: `sum by (le) (increase(session_broker_renewal_duration_seconds_bucket{${MERCHANT}}[$__rate_interval]))`,
        legend: '{{le}}',
        format: 'heatmap',
      }),
    ),
  lines({ title: 'Failures of the gateway', description: "By kind and the gateway's own code.", unit: 'ops' }, HALF, {
    expr: `topk(${TOP}, sum by (kind, code) (rate(session_broker_gateway_failures_total{${MERCHANT}}[$__rate_interval])))`,
    legend: '{{kind}} {{code}}',
  }),
  lines(
    {
      title: 'Lease contention',
      description:
        'Claims by what the store answered. `held` beside `claimed` is two replicas that wanted the same; that costs nothing.',
      unit: 'ops',
    },
    HALF,
    perSecond('leases', 'result', REPLICA),
  ),
  lines(
    {
      title: 'Late and fenced results',
      description: 'Sessions that came after their lease, or that a newer lease refused. Should be next to never.',
      unit: 'none',
    },
    HALF,
    {
      expr: `sum(increase(session_broker_late_results_total{${MERCHANT}}[$__rate_interval])) or vector(0)`,
      legend: 'late',
    },
    {
      expr: `sum(increase(session_broker_fenced_publish_rejected_total{${MERCHANT}}[$__rate_interval])) or vector(0)`,
      legend: 'fenced',
    },
    {
      expr: `sum(increase(session_broker_budget_exhausted_total{${MERCHANT}}[$__rate_interval])) or vector(0)`,
      legend: 'refused by the budget',
    },
  ),
  lines(
    {
      title: 'Hand-overs',
      description:
        'Planned renewals that asked consumers to hold their calls. `limit` and `cut` end the session under calls that still run; `nobody` is a merchant whose consumers do not take part.',
      unit: 'ops',
    },
    HALF,
    perSecond('handovers', 'outcome'),
  ),
  lines(
    {
      title: 'Hand-over wait',
      description: 'How long renewals waited for consumers to end their calls: their calls were held meanwhile.',
      unit: 's',
    },
    HALF,
    ...[0.5, 0.99].map((quantile) => ({
      expr: `histogram_quantile(${quantile}, sum by (le) (rate(session_broker_handover_wait_seconds_bucket{${MERCHANT}}[$__rate_interval])))`,
      legend: `p${quantile * 100}`,
    })),
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
    {
      title: 'Somebody else creates',
      description:
        'One: consumers report that sessions of this merchant die early, and no call of the broker has ended them. Zero: nobody reports it.',
      unit: 'none',
    },
    THIRD,
    {
      expr: `topk(${TOP}, max by (merchant) (session_broker_foreign_authorizer{${MERCHANT}}))`,
      legend: '{{merchant}}',
    },
  ),
  lines({ title: 'Watchers', description: 'Open event streams of each replica.', unit: 'none' }, THIRD, {
    expr: `sum by (instance) (session_broker_watchers{${REPLICA}})`,
    legend: '{{instance}}',
  }),
  lines({ title: 'Requests', description: 'By route and status.', unit: 'reqps' }, THIRD, {
    expr: `topk(${TOP}, sum by (http_route, http_response_status_code) (rate(http_server_request_duration_seconds_count{${REPLICA}}[$__rate_interval])))`,
    legend: '{{http_route}} {{http_response_status_code}}',
  }),
  lines(
    {
      title: 'Request latency, p99',
      description: 'By route. A held request (Prefer: wait) is long on purpose.',
      unit: 's',
    },
    THIRD,
    {
      expr: `histogram_quantile(0.99, sum by (le, http_route) (rate(http_server_request_duration_seconds_bucket{${REPLICA}}[$__rate_interval])))`,
      legend: '{{http_route}}',
    },
  ),
  lines(
    { title: 'Refused credentials', description: 'Authentications that failed, by reason.', unit: 'ops' },
    THIRD,
    perSecond('authentication_failures', 'reason', REPLICA),
  ),
];

const replicas = [
  lines({ title: 'Store', description: 'One: the replica reaches it.', unit: 'none' }, THIRD, {
    expr: `min by (instance) (session_broker_store_up{${REPLICA}})`,
    legend: '{{instance}}',
  }),
  lines(
    { title: 'Store errors', description: 'Operations that the store did not answer.', unit: 'ops' },
    THIRD,
    perSecond('store_errors', 'operation', REPLICA),
  ),
  lines(
    {
      title: 'Clock of the gateway',
      description: 'How far it is ahead of ours (or behind, as a positive number), for the merchants with the most.',
      unit: 's',
    },
    THIRD,
    {
      expr: `topk(${TOP}, max by (merchant) (abs(session_broker_gateway_clock_skew_seconds{${MERCHANT}})))`,
      legend: '{{merchant}}',
    },
  ),
  lines(
    {
      title: 'Replicas that lag',
      description: 'Merchants of which each replica holds an older session than another one.',
      unit: 'none',
    },
    THIRD,
    {
      expr: `count by (instance) (session_broker_replica_generation{${MERCHANT}} < on (merchant) group_left () max by (merchant) (session_broker_replica_generation{${MERCHANT}})) or count by (instance) (session_broker_watchers{${REPLICA}}) * 0`,
      legend: '{{instance}}',
    },
  ),
  lines({ title: 'Event loop lag, p99', description: 'What every request and renewal waits for.', unit: 's' }, THIRD, {
    expr: `max by (instance) (nodejs_eventloop_lag_p99_seconds{${REPLICA}, job=~".*session-broker"})`,
    legend: '{{instance}}',
  }),
  lines({ title: 'Heap', description: 'Used, all spaces.', unit: 'bytes' }, THIRD, {
    expr: `sum by (instance) (nodejs_heap_size_used_bytes{${REPLICA}, job=~".*session-broker"})`,
    legend: '{{instance}}',
  }),
  new TableBuilder()
    .title('Build')
    .description('What runs where, by version.')
    .unit('none')
    .span(24)
    .height(5)
    .datasource(DATASOURCE)
    .withTarget(
      query({
        expr: `max by (instance, version, node) (session_broker_build_info{${REPLICA}})`,
        instant: true,
        format: 'table',
      }),
    ),
];

/** The panels by row, in order. */
export const rows = {
  Health: health,
  Sessions: sessions,
  Renewals: renewals,
  Consumers: consumers,
  Egress: egress,
  Replicas: replicas,
};
export type Rows = typeof rows;
