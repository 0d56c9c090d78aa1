import type { BrokerHttp } from './broker-http.js';
import { Deadline } from './deadline.js';
import type { HandoverNotice } from './handover-notice.js';
import type { Time } from './time.js';

interface ReadyReportParts {
  readonly http: BrokerHttp;
  readonly time: Time;
  readonly closed: AbortSignal;
}

/** Tells the broker, once, that no call is running: if that fails, the broker waits as long as it would have anyway. */
export function reportReady(
  { http, time, closed }: ReadyReportParts,
  { generation, participant, holdForMs }: Required<HandoverNotice>,
): void {
  const deadline = new Deadline(time, { ms: holdForMs, parents: [closed], background: true });
  const end = (): void => deadline.close();
  const body = { generation, participant };
  http.json({ path: '/session/handovers', body, background: true, signal: deadline.signal }).then(end, end);
}
