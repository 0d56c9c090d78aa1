import {
  AnnotationQueryBuilder,
  type Dashboard,
  DashboardBuilder,
  DashboardCursorSync,
  DashboardLinkBuilder,
  DashboardLinkType,
  DatasourceVariableBuilder,
  QueryVariableBuilder,
  RowBuilder,
  VariableRefresh,
} from '@grafana/grafana-foundation-sdk/dashboard';
import type { Rows } from './session-broker-panels.js';

const DATASOURCE = { type: 'prometheus', uid: '${datasource}' };

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
    .link(
      new DashboardLinkBuilder('Runbooks')
        .type(DashboardLinkType.Link)
        .url('docs/runbooks/README.md')
        .targetBlank(true),
    )
    .withVariable(new DatasourceVariableBuilder('datasource').label('Data source').type('prometheus'))
    .withVariable(selection('namespace', 'Namespace', 'label_values(session_broker_watchers, namespace)'))
    .withVariable(
      selection(
        'merchant',
        'Merchant',
        'label_values(session_broker_session_expiry_timestamp_seconds{namespace=~"$namespace"}, merchant)',
      ),
    )
    .annotation(
      new AnnotationQueryBuilder()
        .name('Alerts')
        .datasource(DATASOURCE)
        .enable(true)
        .iconColor('red')
        .expr('ALERTS{alertname=~"Session(Broker|Egress).*", alertstate="firing"}'),
    );
  for (const [title, panels] of Object.entries(rows)) {
    board.withRow(new RowBuilder(title));
    for (const panel of panels) board.withPanel(panel);
  }
  const dashboard = board.build();
  const panels = dashboard.panels?.map((panel, index) => ({ ...panel, id: index + 1 }));
  return { ...dashboard, ...(panels === undefined ? {} : { panels }) };
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
