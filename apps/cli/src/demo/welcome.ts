import { demoHost, type DemoPorts } from './demo-ports.js';

const statusUrl = ({ management }: DemoPorts): string => `http://${demoHost}:${management}/`;

export const readyUrl = ({ management }: DemoPorts): string => `http://${demoHost}:${management}/readyz`;

/** What to try, each line to be copied as it is. */
export function welcome(ports: DemoPorts, token: string): string {
  const broker = `http://${demoHost}:${ports.broker}`;
  return `
Session broker and gateway sandbox are running on this machine.

  read the session   curl -s -H 'Authorization: Bearer ${token}' ${broker}/v1/merchants/shop/session
  broker             ${broker}
  documentation      ${broker}/docs
  status page        ${statusUrl(ports)}
  readiness          ${readyUrl(ports)}
  gateway sandbox    http://${demoHost}:${ports.sandbox}
  demo token         ${token}

A session lasts about a minute here and is renewed before it ends. Ctrl-C ends everything.
`;
}
