{{/* DNS: CoreDNS; the cache on the node, by its pods and by the address that it has on every node; OpenShift's. */}}
{{- define "session-broker.toDns" -}}
- to:
    - namespaceSelector: { matchLabels: { kubernetes.io/metadata.name: kube-system } }
      podSelector: { matchLabels: { k8s-app: kube-dns } }
    - namespaceSelector: { matchLabels: { kubernetes.io/metadata.name: kube-system } }
      podSelector: { matchLabels: { k8s-app: node-local-dns } }
{{- range .Values.network.nodeLocalDns }}
    - ipBlock: { cidr: {{ . }} }
{{- end }}
  ports: [{ protocol: UDP, port: 53 }, { protocol: TCP, port: 53 }]
- to:
    - namespaceSelector: { matchLabels: { kubernetes.io/metadata.name: openshift-dns } }
      podSelector: { matchLabels: { dns.operator.openshift.io/daemonset-dns: default } }
  ports: [{ protocol: UDP, port: 5353 }, { protocol: TCP, port: 5353 }]
{{- end }}

{{- define "session-broker.fromPrometheus" -}}
- from:
    - namespaceSelector: { matchLabels: { kubernetes.io/metadata.name: {{ .Values.network.monitoring.namespace }} } }
      podSelector: { matchLabels: {{ toJson .Values.network.monitoring.prometheusLabels }} }
  ports: [{ protocol: TCP, port: management }]
{{- end }}

{{/* OTLP over HTTP, for when OTEL_EXPORTER_OTLP_ENDPOINT is set. */}}
{{- define "session-broker.toCollector" -}}
- to:
    - namespaceSelector: { matchLabels: { kubernetes.io/metadata.name: {{ .Values.network.monitoring.namespace }} } }
      podSelector: { matchLabels: {{ toJson .Values.network.monitoring.collectorLabels }} }
  ports: [{ protocol: TCP, port: 4318 }]
{{- end }}

{{/* Out to the bank: by address, or only through the proxy. Takes root and name. */}}
{{- define "session-broker.gatewayPolicy" -}}
{{- $gateway := .root.Values.network.gateway }}
---
apiVersion: networking.k8s.io/v1
kind: NetworkPolicy
metadata:
  name: {{ .name }}-gateway
  namespace: {{ .root.Release.Namespace }}
  labels: {{- include "session-broker.labels" .root | nindent 4 }}
spec:
  podSelector: { matchLabels: { app.kubernetes.io/name: {{ .name }} } }
  policyTypes: [Egress]
  egress:
{{- if $gateway.proxy.enabled }}
    - to:
        - namespaceSelector: { matchLabels: { kubernetes.io/metadata.name: {{ $gateway.proxy.namespace }} } }
          podSelector: { matchLabels: {{ toJson $gateway.proxy.podLabels }} }
      ports: [{ protocol: TCP, port: {{ $gateway.proxy.port }} }]
{{- else }}
    - to:
{{- range $gateway.cidrs }}
        - ipBlock: { cidr: {{ . }} }
{{- end }}
      ports:
{{- range $gateway.ports }}
        - { protocol: TCP, port: {{ . }} }
{{- end }}
{{- end }}
{{- end }}
