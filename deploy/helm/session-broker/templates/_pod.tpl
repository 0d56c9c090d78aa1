{{- define "session-broker.image" -}}
{{ .Values.image.repository }}:{{ .Values.image.tag | default .Chart.AppVersion }}
{{- with .Values.image.digest }}@{{ . }}{{ end }}
{{- end }}

{{/* What the pods of broker and egress have in common: root, name, user and grace. */}}
{{- define "session-broker.podSettings" -}}
serviceAccountName: {{ .name }}
automountServiceAccountToken: false
enableServiceLinks: false
terminationGracePeriodSeconds: {{ .grace }}
{{- with .root.Values.priorityClass.name }}
priorityClassName: {{ . }}
{{- end }}
{{- with .root.Values.pods.nodeSelector }}
nodeSelector: {{- toYaml . | nindent 2 }}
{{- end }}
{{- with .root.Values.pods.tolerations }}
tolerations: {{- toYaml . | nindent 2 }}
{{- end }}
securityContext:
  runAsNonRoot: true
  runAsUser: {{ .user }}
  runAsGroup: {{ .user }}
  fsGroup: {{ .user }}
  seccompProfile: { type: RuntimeDefault }
# The pods of one revision among themselves: those that an update takes away do not count.
topologySpreadConstraints:
{{- range list "topology.kubernetes.io/zone" "kubernetes.io/hostname" }}
  - maxSkew: 1
    topologyKey: {{ . }}
    whenUnsatisfiable: ScheduleAnyway
    labelSelector: { matchLabels: { app.kubernetes.io/name: {{ $.name }} } }
    matchLabelKeys: [pod-template-hash]
{{- end }}
{{- end }}

{{/* Two mounts at one path make no pod: of a merchant whose id another folder of /run/secrets has, it says so instead. */}}
{{- define "session-broker.checkMerchants" -}}
{{- $taken := dict }}
{{- if .redisSecret }}{{ $_ := set $taken "redis" "broker.redisSecret" }}{{ end }}
{{- if .mutualTls.enabled }}{{ $_ := set $taken "api-tls" "broker.mutualTls" }}{{ end }}
{{- range $index, $mount := .volumeMounts }}
{{- $_ := set $taken (trimPrefix "/run/secrets/" (clean ($mount.mountPath | default ""))) (printf "broker.volumeMounts[%d]" $index) }}
{{- end }}
{{- range $index, $id := .merchants }}
{{- with get $taken $id }}
{{- fail (printf "broker.merchants[%d]: /run/secrets/%s is the folder of %s. Take %s out of broker.merchants, and mount its Secret elsewhere by broker.volumes and broker.volumeMounts" $index $id . $id) }}
{{- end }}
{{- end }}
{{- end }}

{{/* How the platform asks a program how it is, and lets it end. */}}
{{- define "session-broker.health" -}}
startupProbe:
  httpGet: { path: /livez, port: management }
  periodSeconds: 1
  failureThreshold: 60
# The event loop and nothing else: a restart mends nothing that is outside.
livenessProbe:
  httpGet: { path: /livez, port: management }
  periodSeconds: 10
  timeoutSeconds: 5
  failureThreshold: 3
readinessProbe:
  httpGet: { path: /readyz, port: management }
  periodSeconds: 2
  timeoutSeconds: 2
  failureThreshold: 2
# Endpoints forget the pod before it stops to listen.
lifecycle: { preStop: { sleep: { seconds: 5 } } }
securityContext:
  allowPrivilegeEscalation: false
  readOnlyRootFilesystem: true
  capabilities: { drop: [ALL] }
{{- end }}
