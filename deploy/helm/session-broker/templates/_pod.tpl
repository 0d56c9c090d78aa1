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

{{/* A file whose folder no pod mounts keeps each new pod from starting: it says so before there are any. */}}
{{- define "session-broker.checkMounts" -}}
{{- $mounted := list }}
{{- range .merchants }}{{ $mounted = append $mounted (printf "/run/secrets/%s" .) }}{{ end }}
{{- if .redisSecret }}{{ $mounted = append $mounted "/run/secrets/redis" }}{{ end }}
{{- if .mutualTls.enabled }}{{ $mounted = append $mounted "/run/secrets/api-tls" }}{{ end }}
{{- range .volumeMounts }}{{ $mounted = append $mounted (clean (.mountPath | default "")) }}{{ end }}
{{- $remedies := dict "redis" "Set broker.redisSecret" "api-tls" "Enable broker.mutualTls" }}
{{- range $line := splitList "\n" (.configuration | default "") }}
{{- range $file := regexFindAll "/run/secrets/[A-Za-z0-9._/-]+" (regexReplaceAll "^\\s*#.*" $line "") -1 }}
{{- $isMounted := false }}
{{- range $mounted }}{{ if hasPrefix (printf "%s/" .) $file }}{{ $isMounted = true }}{{ end }}{{ end }}
{{- if not $isMounted }}
{{- $id := index (splitList "/" $file) 3 }}
{{- $remedy := get $remedies $id | default (printf "Name %s in broker.merchants" $id) }}
{{- fail (printf "broker.configuration: no pod mounts the folder of %s. %s, or mount its Secret there by broker.volumes and broker.volumeMounts" $file $remedy) }}
{{- end }}
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
