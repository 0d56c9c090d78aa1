{{- define "session-broker.image" -}}
{{ .Values.image.repository }}:{{ .Values.image.tag | default .Chart.AppVersion }}
{{- with .Values.image.digest }}@{{ . }}{{ end }}
{{- end }}

{{/* What the pods of broker and egress have in common. Takes root, name, user and grace. */}}
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
{{- with .root.Values.pods.affinity }}
affinity: {{- toYaml . | nindent 2 }}
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
# Spreads the pods of one revision: those that an update is removing do not count.
topologySpreadConstraints:
{{- range list "topology.kubernetes.io/zone" "kubernetes.io/hostname" }}
  - maxSkew: 1
    topologyKey: {{ . }}
    whenUnsatisfiable: ScheduleAnyway
    labelSelector: { matchLabels: { app.kubernetes.io/name: {{ $.name }} } }
    matchLabelKeys: [pod-template-hash]
{{- end }}
{{- end }}

{{/* What nobody can guess, all of it at once: an upgrade that took it for empty would take it from running pods. */}}
{{- define "session-broker.checkGiven" -}}
{{- $missing := list }}
{{- if not .image.repository }}{{ $missing = append $missing "image.repository: where you have pushed the image" }}{{ end }}
{{- if not .broker.configuration }}{{ $missing = append $missing "broker.configuration: --set-file broker.configuration=broker.yaml" }}{{ end }}
{{- if and .egress.enabled (not .egress.configuration) }}{{ $missing = append $missing "egress.configuration: --set-file egress.configuration=egress.yaml" }}{{ end }}
{{- if .networkPolicy.enabled }}
{{- if not (or .network.gateway.cidrs .network.gateway.proxy.enabled) }}{{ $missing = append $missing "network.gateway: cidrs, the addresses of the bank's gateway, or proxy" }}{{ end }}
{{- with .broker.kubernetesCallers }}
{{- if and .enabled (not .apiServer.cidrs) }}{{ $missing = append $missing "broker.kubernetesCallers.apiServer.cidrs: the addresses of the API server" }}{{ end }}
{{- end }}
{{- end }}
{{- with $missing }}
{{- fail (printf "Helm takes over no values from the release before. Give these with each install and upgrade:\n%s" (join "\n" .)) }}
{{- end }}
{{- end }}

{{/* Two mounts at one path make a pod invalid: fails if a merchant has the id of another folder in /run/secrets. */}}
{{- define "session-broker.checkMerchants" -}}
{{- $taken := dict }}
{{- if .redisSecret }}{{ $_ := set $taken "redis" "broker.redisSecret" }}{{ end }}
{{- if .mutualTls.enabled }}{{ $_ := set $taken "api-tls" "broker.mutualTls" }}{{ end }}
{{- range $index, $mount := .volumeMounts }}
{{- $_ := set $taken (trimPrefix "/run/secrets/" (clean ($mount.mountPath | default ""))) (printf "broker.volumeMounts[%d]" $index) }}
{{- end }}
{{- range $index, $id := .merchants }}
{{- with get $taken $id }}
{{- fail (printf "broker.merchants[%d]: /run/secrets/%s is the folder of %s. Take %s out of broker.merchants, and mount its Secret elsewhere with broker.volumes and broker.volumeMounts" $index $id . $id) }}
{{- end }}
{{- end }}
{{- end }}

{{/* A file whose folder no pod mounts would keep every new pod from starting: fails before there are any. */}}
{{- define "session-broker.checkMounts" -}}
{{- $mounted := list }}
{{- range .merchants }}{{ $mounted = append $mounted (printf "/run/secrets/%s" .) }}{{ end }}
{{- if .redisSecret }}{{ $mounted = append $mounted "/run/secrets/redis" }}{{ end }}
{{- if .mutualTls.enabled }}{{ $mounted = append $mounted "/run/secrets/api-tls" }}{{ end }}
{{- range .volumeMounts }}{{ $mounted = append $mounted (clean (.mountPath | default "")) }}{{ end }}
{{- $remedies := dict "redis" "Set broker.redisSecret" "api-tls" "Enable broker.mutualTls" }}
{{- range $line := splitList "\n" .configuration }}
{{- range $file := regexFindAll "/run/secrets/[A-Za-z0-9._/-]+" (regexReplaceAll "^\\s*#.*" $line "") -1 }}
{{- $isMounted := false }}
{{- range $mounted }}{{ if hasPrefix (printf "%s/" .) $file }}{{ $isMounted = true }}{{ end }}{{ end }}
{{- if not $isMounted }}
{{- $id := index (splitList "/" $file) 3 }}
{{- $remedy := get $remedies $id | default (printf "Name %s in broker.merchants" $id) }}
{{- fail (printf "broker.configuration: no pod mounts the folder of %s. %s, or mount its Secret there with broker.volumes and broker.volumeMounts" $file $remedy) }}
{{- end }}
{{- end }}
{{- end }}
{{- end }}

{{- define "session-broker.hardened" -}}
securityContext:
  allowPrivilegeEscalation: false
  readOnlyRootFilesystem: true
  capabilities: { drop: [ALL] }
{{- end }}

{{/* What the broker runs with, and the doctor in its place. */}}
{{- define "session-broker.program" -}}
{{- $broker := .Values.broker -}}
image: {{ include "session-broker.image" . }}
imagePullPolicy: {{ .Values.image.pullPolicy }}
env:
  - { name: BROKER_CONFIG, value: /etc/session-broker/broker.yaml }
{{- with $broker.env }}
{{ toYaml . | indent 2 }}
{{- end }}
resources: {{- toYaml $broker.resources | nindent 2 }}
volumeMounts:
  - { name: configuration, mountPath: /etc/session-broker, readOnly: true }
{{- range $broker.merchants }}
  - { name: merchant-{{ . }}, mountPath: /run/secrets/{{ . }}, readOnly: true }
{{- end }}
{{- if $broker.redisSecret }}
  - { name: redis, mountPath: /run/secrets/redis, readOnly: true }
{{- end }}
{{- if $broker.kubernetesCallers.enabled }}
  - { name: issuer, mountPath: /run/issuer, readOnly: true }
{{- end }}
{{- if $broker.mutualTls.enabled }}
  - { name: api-tls, mountPath: /run/secrets/api-tls, readOnly: true }
{{- end }}
  - { name: tmp, mountPath: /tmp }
{{- with $broker.volumeMounts }}
{{ toYaml . | indent 2 }}
{{- end }}
{{- include "session-broker.hardened" . | nindent 0 }}
{{- end }}

{{- define "session-broker.volumes" -}}
{{- $broker := .Values.broker -}}
volumes:
  - { name: configuration, configMap: { name: session-broker } }
{{- range $broker.merchants }}
  - { name: merchant-{{ . }}, secret: { secretName: session-broker-merchant-{{ . }}, defaultMode: 288 } }
{{- end }}
{{- if $broker.redisSecret }}
  - { name: redis, secret: { secretName: session-broker-redis, defaultMode: 288 } }
{{- end }}
{{- if $broker.kubernetesCallers.enabled }}
  - name: issuer
    projected:
      defaultMode: 288
      sources:
        # It may do what any account may: read the issuer's public keys.
        - serviceAccountToken: { path: token, expirationSeconds: 3600 }
        - configMap: { name: kube-root-ca.crt, items: [{ key: ca.crt, path: ca.crt }] }
{{- end }}
{{- if $broker.mutualTls.enabled }}
  - { name: api-tls, secret: { secretName: session-broker-api-tls, defaultMode: 288 } }
{{- end }}
  - { name: tmp, emptyDir: { medium: Memory, sizeLimit: 16Mi } }
{{- with $broker.volumes }}
{{ toYaml . | indent 2 }}
{{- end }}
{{- end }}

{{/* How the platform probes a program, and lets it end. */}}
{{- define "session-broker.health" -}}
startupProbe:
  httpGet: { path: /livez, port: management }
  periodSeconds: 1
  failureThreshold: 60
# Checks the event loop and nothing else: a restart fixes nothing outside it.
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
# Endpoints drop the pod before it stops listening.
lifecycle: { preStop: { sleep: { seconds: 5 } } }
{{- end }}
