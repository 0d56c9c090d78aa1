{{/* The labels of every object. */}}
{{- define "session-broker.labels" -}}
app.kubernetes.io/part-of: session-broker
app.kubernetes.io/instance: {{ .Release.Name }}
app.kubernetes.io/managed-by: {{ .Release.Service }}
helm.sh/chart: {{ .Chart.Name }}-{{ .Chart.Version }}
{{- end }}

{{/* The labels of a pod. Takes root and name. */}}
{{- define "session-broker.podLabels" -}}
app.kubernetes.io/name: {{ .name }}
app.kubernetes.io/part-of: session-broker
app.kubernetes.io/version: {{ .root.Values.image.tag | default .root.Chart.AppVersion | quote }}
{{- with .root.Values.pods.labels }}
{{ toYaml . }}
{{- end }}
{{- end }}
