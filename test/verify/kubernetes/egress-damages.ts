import { type Damage, OPTIONS } from './damage.js';

const EGRESS: readonly [string, string] = ['Deployment', 'session-egress'];
const CONFIGURATION: readonly [string, string] = ['ConfigMap', 'session-egress'];

/** Changes with which the egress would not start, listen, answer or reach what it needs. */
export const egressDamages: readonly Damage[] = (
  [
    [/the pod opens/, CONFIGURATION, 'port: 8090', 'port: 8091'],
    [/nobody outside the pod/, CONFIGURATION, "listen: { host: '::'", 'listen: { host: 127.0.0.1'],
    [/not by IPv6/, CONFIGURATION, "listen: { host: '::'", 'listen: { host: 0.0.0.0'],
    [
      /over kubernetes.io\/hostname as if/,
      EGRESS,
      /"matchLabelKeys":\[[^\]]*\],(?="maxSkew":1,"topologyKey":"kubernetes.io)/,
      '',
    ],
    [/alias.jwk.json is in no volume/, EGRESS, '/run/secrets/egress', '/run/secrets/keys'],
    [/tls.crt is in no volume/, EGRESS, '/run/session-broker', '/run/token'],
    [/plugin-next is in no volume/, CONFIGURATION, 'egress/plugin-alias', 'egress/plugin-next'],
    [/its memory does not suffice/, EGRESS, /"memory":"224Mi"/g, '"memory":"128Mi"'],
    [/whether it is ready/, EGRESS, '"/readyz"', '"/health"'],
    [/whether it lives/, EGRESS, /("livenessProbe":\{[^}]*)"\/livez"/, '$1"/readyz"'],
    [/needs 51 s/, EGRESS, '"terminationGracePeriodSeconds":60', '"terminationGracePeriodSeconds":40'],
    [/still being called/, EGRESS, '"seconds":5', '"seconds":0'],
    [/less than 2/, EGRESS, '"replicas":2', '"replicas":1'],
    [
      /out to session-broker/,
      ['NetworkPolicy', 'session-egress'],
      /"port":"api"(?=.*"protocol":"TCP"\}\],"to")/,
      '"port":80',
    ],
    [/out to gateway.example/, ['NetworkPolicy', 'session-egress-gateway'], '"port":443', '"port":8443'],
    [/not let it payload:decrypt for shop/, ['ConfigMap', 'session-broker'], "'payload:decrypt'", "'payload:encrypt'"],
    [/not let it session:read for other/, CONFIGURATION, 'merchant: shop', 'merchant: other'],
    [/for somebody else/, EGRESS, '"audience":"session-broker"', '"audience":"vault"', OPTIONS],
  ] as const
).map(([says, of, from, to, intent = 'production-mtls']) => ({ check: 'egress', says, of, from, to, intent }));
