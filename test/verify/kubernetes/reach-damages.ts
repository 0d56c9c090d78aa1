import { type Damage, OPTIONS, OWN, POLICY } from './damage.js';

const SERVICE: readonly [string, string] = ['Service', 'session-broker'];
const ROUTE: readonly [string] = ['HTTPRoute'];

/** Wrong names, and ways that lead nowhere or too far. */
export const reachDamages: readonly Damage[] = [
  ...(
    [
      [/what it is a part of/, SERVICE, 'app.kubernetes.io/part-of', 'app.kubernetes.io/component'],
      [/pods of session-broker do not say/, OWN, /("template":.*)"app.kubernetes.io\/part-of"/, '$1"part-of"'],
      [/another version than that of their image/, OWN, 'app.kubernetes.io/version":"0.1.0"', 'version":"0.0.9"'],
      [/by what may change/, OWN, '"selector":{"matchLabels":{', '"selector":{"matchLabels":{"version":"0.1.0",'],
    ] as const
  ).map(([says, of, from, to]) => ({ check: 'labels', says, of, from, to })),
  ...(
    [
      [/does not reach CoreDNS by UDP/, POLICY, '"kube-dns"', '"core-dns"'],
      [/does not reach CoreDNS by TCP/, POLICY, '{"port":53,"protocol":"TCP"}', '{"port":54,"protocol":"TCP"}'],
      [/the DNS cache of its node by UDP/, POLICY, '169.254.20.10/32', '169.254.20.11/32'],
      [/the DNS cache in pods by UDP/, POLICY, '"node-local-dns"', '"nodelocaldns"'],
      [/the DNS of OpenShift by UDP/, POLICY, '{"port":5353,"protocol":"UDP"}', '{"port":53,"protocol":"UDP"}'],
      [/of one IP family/, SERVICE, '"PreferDualStack"', '"SingleStack"'],
    ] as const
  ).map(([says, of, from, to]) => ({ check: 'network', says, of, from, to })),
  ...(
    [
      [/leads to no service/, ROUTE, '"port":80', '"port":8090'],
      [/let in by nobody/, ['NetworkPolicy', 'session-egress-route'], '"session-egress"}},"pol', '"egress"}},"pol'],
      [/gives up before/, ROUTE, '"request":"45s"', '"request":"15s"'],
      [/repeats payments/, ROUTE, '"timeouts"', '"retry":{"attempts":2},"timeouts"'],
    ] as const
  ).map(([says, of, from, to]) => ({ check: 'routes', says, of, from, to, intent: OPTIONS })),
];
