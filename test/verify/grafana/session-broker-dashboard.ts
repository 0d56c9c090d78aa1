import {
  AnnotationQueryBuilder,
  type Dashboard,
  DashboardBuilder,
  DashboardCursorSync,
  DatasourceVariableBuilder,
  QueryVariableBuilder,
  RowBuilder,
  VariableRefresh,
} from '@grafana/grafana-foundation-sdk/dashboard';
import { ALERTS, BY_MERCHANT, DATASOURCE, MERCHANT, MERCHANT_LEGEND, REPLICA, TOP } from './panel-builders.js';
import type { Rows } from './session-broker-panels.js';

/** What has a merchant, of broker and egress: an egress may be in another namespace. */
const OURS = '__name__=~"session_broker_merchant_state|session_egress_following"';

/** The dashboard in Grafana's format; deploy/grafana/dashboards has it as JSON. `rows` come from the panels' file. */
export function sessionBrokerDashboard(rows: Rows): Dashboard {
  const board = new DashboardBuilder('Session broker')
    .uid('session-broker')
    .description('Technical sessions of an acquiring gateway: how they are renewed, and who gets them.')
    .tags(['session-broker'])
    .readonly()
    .refresh('30s')
    .time({ from: 'now-3h', to: 'now' })
    .timezone('browser')
    .tooltip(DashboardCursorSync.Crosshair)
    .withVariable(new DatasourceVariableBuilder('datasource').label('Data source').type('prometheus'))
    .withVariable(selection('cluster', 'Cluster', `label_values({${OURS}}, cluster)`))
    .withVariable(selection('namespace', 'Namespace', `label_values({${OURS}, cluster=~"$cluster"}, namespace)`))
    .withVariable(selection('merchant', 'Merchant', `label_values({${OURS}, ${REPLICA}}, merchant)`))
    .annotation(
      annotation('Alerts', 'red')
        .expr(`${ALERTS}, alertstate="firing"}`)
        .titleFormat(`{{alertname}} ${MERCHANT_LEGEND}`),
    )
    .annotation(
      // Its value is the moment: one mark for each new session.
      annotation('Renewals', 'blue')
        .expr(
          `topk(${TOP}, max by (${BY_MERCHANT}) (session_broker_last_success_timestamp_seconds{${MERCHANT}})) * 1000`,
        )
        .useValueForTime(true)
        .titleFormat(`new session ${MERCHANT_LEGEND}`),
    );
  for (const [title, panels] of Object.entries(rows)) {
    board.withRow(new RowBuilder(title));
    for (const panel of panels) board.withPanel(panel);
  }
  const dashboard = board.build();
  const panels = dashboard.panels?.map((panel, index) => ({ ...panel, id: index + 1 }));
  return { ...dashboard, ...(panels === undefined ? {} : { panels }) };
}

function annotation(name: string, colour: string): AnnotationQueryBuilder {
  return new AnnotationQueryBuilder().name(name).datasource(DATASOURCE).enable(true).iconColor(colour);
}

function selection(name: string, label: string, definition: string): QueryVariableBuilder {
  return new QueryVariableBuilder(name)
    .label(label)
    .datasource(DATASOURCE)
    .query(definition)
    .refresh(VariableRefresh.OnTimeRangeChanged)
    .multi(true)
    .includeAll(true)
    .allValue('.*');
}
