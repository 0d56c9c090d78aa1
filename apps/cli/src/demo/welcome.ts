import { DEMO_SERVICE_CODE, type DemoFiles } from './demo-files.js';
import { demoHost, type DemoPorts } from './demo-ports.js';

const statusUrl = ({ management }: DemoPorts): string => `http://${demoHost}:${management}/`;

export const readyUrl = ({ management }: DemoPorts): string => `http://${demoHost}:${management}/readyz`;
export const egressReadyUrl = ({ egressManagement }: DemoPorts): string =>
  `http://${demoHost}:${egressManagement}/readyz`;

/** What to try; each line can be copied as it is. */
export function welcome(ports: DemoPorts, { token, egress }: DemoFiles): string {
  const broker = `http://${demoHost}:${ports.broker}`;
  return `
Session broker, egress and gateway sandbox are running on this machine.

  read the session   curl -s -H 'Authorization: Bearer ${token}' ${broker}/v1/merchants/shop/session
  broker             ${broker}
  documentation      ${broker}/docs
  status page        ${statusUrl(ports)}
  readiness          ${readyUrl(ports)}
  egress             http://${demoHost}:${ports.egress}
  its readiness      ${egressReadyUrl(ports)}
  gateway sandbox    http://${demoHost}:${ports.sandbox}
  demo token         ${token}

Create an order on the hosted page, through the egress, which adds the session:

  ${orderLine(`http://${demoHost}:${ports.egress}`, egress.clientToken)}

An existing client of the bank's interface needs other settings only: base URL http://${demoHost}:${ports.egress},
serviceCode ${egress.serviceCodeAlias}, key ${egress.clientKey}

A second program with the same serviceCode breaks payments: each session that it creates ends ours.

  ${loop(`http://${demoHost}:${ports.sandbox}`, DEMO_SERVICE_CODE)}

The same program at the egress, with the alias as its serviceCode, ends none:

  ${loop(`http://${demoHost}:${ports.egress}`, egress.serviceCodeAlias)}

A session lasts about a minute here and is renewed before it ends. Ctrl-C ends everything.
`;
}

/** A program that creates sessions for itself, as published clients do. */
function loop(base: string, serviceCode: string): string {
  const url = `${base}/api-gateway/authorize_virtual_device`;
  return `while sleep 1; do curl -s -o /dev/null --json '{"serviceCode":"${serviceCode}"}' ${url}; done`;
}

function orderLine(egress: string, token: string): string {
  const order = {
    merchantId: 'demo',
    hppPayType: 'PURCHASE',
    coinAmount: 12_500,
    paymentMethods: ['PAN'],
    successUrl: 'https://shop.example/thanks',
    failUrl: 'https://shop.example/sorry',
    statusPageType: 'STATUS_TIMER_PAGE',
    customerData: { senderCustomerId: 'customer-1' },
  };
  // The gateway accepts a merchantRequestId only once, and this line should work for more than one order.
  const json = `'{"merchantRequestId":"order-'$(date +%s)'",${JSON.stringify(order).slice(1)}'`;
  const url = `${egress}/ecom/execute_request/hpp/v1/create-order`;
  return `curl -s --json ${json} ${url} -H 'authorization: Bearer ${token}'`;
}
