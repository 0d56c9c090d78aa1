import { VERSION } from '#libs/program';
import type { IntentName } from './intents.js';

/**
 * One change to the rendered output, in its JSON text, and what the check must say of it. An object is its kind, and its
 * name if there are several.
 */
export type Damage = readonly [
  says: RegExp,
  of: readonly [kind: string, name?: string],
  from: string | RegExp,
  to: string,
  intent?: IntentName,
];

const OPTIONS = 'production, with every option';
const MTLS = 'production-mtls';
const OWN = ['Deployment', 'session-broker'] as const;
const EGRESS = ['Deployment', 'session-egress'] as const;
const POLICY = ['NetworkPolicy', 'session-broker'] as const;
const SERVICE = ['Service', 'session-broker'] as const;
const ROUTE = ['HTTPRoute'] as const;
const BROKER_CONFIGURATION = ['ConfigMap', 'session-broker'] as const;
const EGRESS_CONFIGURATION = ['ConfigMap', 'session-egress'] as const;

/** By the check that must find it; those of the egress in the production that has one, the others in the first one. */
export const damages: Readonly<Record<string, readonly Damage[]>> = {
  models: [
    [/replicas/, OWN, '"replicas":3', '"replicas":"three"'],
    [/no model/, ['Service'], '"Service"', '"Servise"'],
  ],
  schemas: [
    [/readonlyRootFilesystem/, OWN, 'readOnlyRootFilesystem', 'readonlyRootFilesystem'],
    [/intervl/, ['PodMonitor'], '"interval"', '"intervl"'],
  ],
  wiring: [
    [
      /Service session-broker selects no pod/,
      ['Service'],
      /"selector":\{[^}]*"session-broker"/,
      '"selector":{"app":"broker"',
    ],
    [/port "apis"/, ['Service'], '"targetPort":"api"', '"targetPort":"apis"'],
    [/port "admin"/, ['PodMonitor'], '"port":"management"', '"port":"admin"'],
    [/port "web"/, POLICY, '"port":"api"', '"port":"web"'],
    [/volume "redis", which it does not have/, OWN, '{"name":"redis","secret"', '{"name":"other","secret"'],
    [/"unmade", which nobody makes/, OWN, '"session-broker-redis"', '"unmade"'],
    [/wants "ca.pem"/, OWN, '"key":"ca.crt"', '"key":"ca.pem"'],
    [/account that is not there/, OWN, '"serviceAccountName":"session-broker"', '"serviceAccountName":"nobody"'],
    [/in no namespace/, BROKER_CONFIGURATION, '"namespace":"session-broker"', '"namespace":"default"'],
    [/does not fit/, ['PodDisruptionBudget'], '"maxUnavailable":1', '"maxUnavailable":3'],
    [
      /scales nothing/,
      ['HorizontalPodAutoscaler'],
      '"kind":"Deployment","name":"session-broker"',
      '"kind":"Deployment","name":"other"',
      OPTIONS,
    ],
    [/its autoscaler sets/, OWN, '"revisionHistoryLimit"', '"replicas":3,"revisionHistoryLimit"', OPTIONS],
    [/priority that nobody makes/, ['PriorityClass'], '"name":"session-broker"', '"name":"payments"', OPTIONS],
  ],
  hardening: [
    [/run as root/, OWN, '"runAsNonRoot":true', '"runAsNonRoot":false'],
    [/node may have too/, OWN, '"runAsUser":10001', '"runAsUser":1000'],
    [/system call/, OWN, 'RuntimeDefault', 'Unconfined'],
    [/write to its root/, OWN, '"readOnlyRootFilesystem":true', '"readOnlyRootFilesystem":false'],
    [/capabilities/, OWN, '"ALL"', '"NET_RAW"'],
    [/gain privileges/, OWN, '"allowPrivilegeEscalation":false', '"allowPrivilegeEscalation":true'],
    [/is privileged/, OWN, '"allowPrivilegeEscalation"', '"privileged":true,"allowPrivilegeEscalation"'],
    [/without a version/, OWN, `session-broker:${VERSION}"`, 'session-broker:latest"'],
    [/when its image is pulled/, OWN, '"IfNotPresent"', '"Never"'],
    [/from its environment/, OWN, '"value":"/etc', '"valueFrom":{},"value":"/etc'],
    [/request what it needs/, OWN, '"cpu":"250m",', ''],
    [/more memory/, OWN, /"limits":\{([^}]*)"memory":"320Mi"/, '"limits":{$1"memory":"1Gi"'],
    [/bound on its files/, OWN, /"limits":\{"ephemeral-storage":"128Mi",/, '"limits":{'],
    [/without being asked/, OWN, '"livenessProbe"', '"noProbe"'],
    [/never updated/, OWN, '"mountPath":"/run/secrets/redis"', '"mountPath":"/run/secrets/redis","subPath":"password"'],
    [/token of the API server/, OWN, '"automountServiceAccountToken":false', '"automountServiceAccountToken":true'],
    [/told of all services/, OWN, '"enableServiceLinks":false', '"enableServiceLinks":true'],
    [/of its node/, OWN, '"enableServiceLinks"', '"hostNetwork":true,"enableServiceLinks"'],
    [
      /not restricted/,
      ['Namespace'],
      '"pod-security.kubernetes.io/enforce":"restricted"',
      '"pod-security.kubernetes.io/enforce":"baseline"',
    ],
    [
      /changes with the version of the cluster/,
      ['Namespace'],
      '"pod-security.kubernetes.io/enforce-version":"v1.30"',
      '"pod-security.kubernetes.io/enforce-version":"latest"',
    ],
  ],
  network: [
    [/no network policy names .* session-broker \(Ingress\)/, POLICY, '"Ingress",', ''],
    [
      /pods of others/,
      POLICY,
      '"podSelector":{"matchLabels":{"app.kubernetes.io/name":"session-broker"}}',
      '"podSelector":{}',
    ],
    [/anybody or anything/, ['NetworkPolicy', 'session-broker-gateway'], '203.0.113.0/24', '0.0.0.0/0'],
    [
      /anybody or anything/,
      POLICY,
      '"podSelector":{"matchLabels":{"session-broker/consumer":"true"}}',
      '"podSelector":{}',
    ],
    [/anybody or anything/, POLICY, /"ports":\[\{"port":"api","protocol":"TCP"\}\]/, '"ports":[]'],
    [/does not reach CoreDNS by UDP/, POLICY, '"kube-dns"', '"core-dns"'],
    [/does not reach CoreDNS by TCP/, POLICY, '{"port":53,"protocol":"TCP"}', '{"port":54,"protocol":"TCP"}'],
    [/the DNS cache of its node by UDP/, POLICY, '169.254.20.10/32', '169.254.20.11/32'],
    [/the DNS cache in pods by UDP/, POLICY, '"node-local-dns"', '"nodelocaldns"'],
    [/the DNS of OpenShift by UDP/, POLICY, '{"port":5353,"protocol":"UDP"}', '{"port":53,"protocol":"UDP"}'],
    [/of one IP family/, SERVICE, '"PreferDualStack"', '"SingleStack"'],
  ],
  broker: [
    [/the pod opens/, BROKER_CONFIGURATION, 'port: 8080', 'port: 8081'],
    [/nobody outside the pod/, BROKER_CONFIGURATION, "management: { host: '::'", 'management: { host: 127.0.0.1'],
    [/redis\/password is in no volume/, OWN, '/run/secrets/redis', '/run/secrets/store'],
    [/nothing in \/run\/secrets\/store is read/, OWN, '/run/secrets/redis', '/run/secrets/store'],
    [/next.jwk.json is in no volume/, BROKER_CONFIGURATION, 'client.jwk.json', 'next.jwk.json'],
    [
      /service-code is in no volume/,
      ['ExternalSecret', 'session-broker-merchant-shop'],
      '"secretKey":"service-code"',
      '"secretKey":"serviceCode"',
      MTLS,
    ],
    [/tls.crt is in no volume/, OWN, '"session-broker-api-tls"', '"session-broker-redis"', MTLS],
    [/whether it lives/, OWN, /("livenessProbe":\{[^}]*)"\/livez"/, '$1"/readyz"'],
    [/whether it is ready/, OWN, '"/readyz"', '"/health"'],
    [/needs 21 s/, OWN, '"terminationGracePeriodSeconds":30', '"terminationGracePeriodSeconds":20'],
    [/still being called/, OWN, '"seconds":5', '"seconds":0'],
    [/before it has another/, OWN, '"maxUnavailable":0', '"maxUnavailable":1'],
    [/less than 3/, OWN, '"replicas":3', '"replicas":2'],
    [/where kubernetes.io\/hostname is the same/, OWN, 'kubernetes.io/hostname', 'kubernetes.io/arch'],
    [/not by IPv6/, BROKER_CONFIGURATION, "http: { host: '::'", 'http: { host: 0.0.0.0'],
    [
      /over topology.kubernetes.io\/zone as if/,
      OWN,
      '"matchLabelKeys":["pod-template-hash"]',
      '"matchLabelKeys":["controller-revision-hash"]',
    ],
    [/disruption budget/, ['PodDisruptionBudget'], /"matchLabels":\{[^}]*\}/, '"matchLabels":{"app":"other"}'],
    [/out to redis:6379/, POLICY, '"port":6379', '"port":6380'],
    [/out to gateway.example/, BROKER_CONFIGURATION, 'https://gateway.example', 'https://gateway.example:8443'],
    [
      /out to kubernetes.default.svc/,
      BROKER_CONFIGURATION,
      'kubernetes.default.svc/openid',
      'kubernetes.default.svc:8443/openid',
    ],
    [/out to sandbox:8081/, ['NetworkPolicy', 'session-broker-gateway'], '"port":8081', '"port":80', 'demo'],
    [
      /out to egress-proxy.egress-proxy.svc:3128/,
      ['NetworkPolicy', 'session-broker-gateway'],
      '"kubernetes.io/metadata.name":"egress-proxy"',
      '"kubernetes.io/metadata.name":"ingress-proxy"',
      OPTIONS,
    ],
    [/no metrics on/, ['PodMonitor'], '"/metrics"', '"/stats"'],
    [
      /another name in the alerts/,
      ['PodMonitor'],
      'app.kubernetes.io/name","podMetrics',
      'app.kubernetes.io/instance","podMetrics',
    ],
    [/not suffice for its watchers/, BROKER_CONFIGURATION, 'maxWatchers: 5000', 'maxWatchers: 10000'],
  ],
  environment: [
    [/broker does not read BROKER_FILE/, OWN, 'BROKER_CONFIG', 'BROKER_FILE'],
    [/sandbox does not read SANDBOX_KEYS/, ['Deployment', 'sandbox'], 'SANDBOX_MERCHANTS', 'SANDBOX_KEYS', 'demo'],
  ],
  egress: [
    [/the pod opens/, EGRESS_CONFIGURATION, 'port: 8090', 'port: 8091'],
    [/nobody outside the pod/, EGRESS_CONFIGURATION, "listen: { host: '::'", 'listen: { host: 127.0.0.1'],
    [/not by IPv6/, EGRESS_CONFIGURATION, "listen: { host: '::'", 'listen: { host: 0.0.0.0'],
    [
      /over kubernetes.io\/hostname as if/,
      EGRESS,
      /"matchLabelKeys":\[[^\]]*\],(?="maxSkew":1,"topologyKey":"kubernetes.io)/,
      '',
    ],
    [/alias.jwk.json is in no volume/, EGRESS, '/run/secrets/egress', '/run/secrets/keys'],
    [/tls.crt is in no volume/, EGRESS, '/run/session-broker', '/run/token'],
    [/plugin-next is in no volume/, EGRESS_CONFIGURATION, 'egress/plugin-alias', 'egress/plugin-next'],
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
    [/not let it payload:decrypt for shop/, BROKER_CONFIGURATION, "'payload:decrypt'", "'payload:encrypt'"],
    [/not let it session:read for other/, EGRESS_CONFIGURATION, 'merchant: shop', 'merchant: other'],
    [/for somebody else/, EGRESS, '"audience":"session-broker"', '"audience":"vault"', OPTIONS],
  ],
  labels: [
    [/what it is a part of/, SERVICE, 'app.kubernetes.io/part-of', 'app.kubernetes.io/component'],
    [/pods of session-broker do not say/, OWN, /("template":.*)"app.kubernetes.io\/part-of"/, '$1"part-of"'],
    [/another version than that of their image/, OWN, `app.kubernetes.io/version":"${VERSION}"`, 'version":"0.0.9"'],
    [/by what may change/, OWN, '"selector":{"matchLabels":{', '"selector":{"matchLabels":{"version":"1.2.3",'],
  ],
  routes: [
    [/leads to no service/, ROUTE, '"port":80', '"port":8090', OPTIONS],
    [
      /let in by nobody/,
      ['NetworkPolicy', 'session-egress-route'],
      '"session-egress"}},"pol',
      '"egress"}},"pol',
      OPTIONS,
    ],
    [/gives up before/, ROUTE, '"request":"45s"', '"request":"15s"', OPTIONS],
    [/repeats payments/, ROUTE, '"timeouts"', '"retry":{"attempts":2},"timeouts"', OPTIONS],
  ],
};
