{{- define "rule-server.name" -}}
{{- default .Chart.Name .Values.nameOverride | trunc 50 | trimSuffix "-" }}
{{- end }}

{{- define "rule-server.fullname" -}}
{{- if .Values.fullnameOverride }}
{{- .Values.fullnameOverride | trunc 50 | trimSuffix "-" }}
{{- else if contains (include "rule-server.name" .) .Release.Name }}
{{- .Release.Name | trunc 50 | trimSuffix "-" }}
{{- else }}
{{- printf "%s-%s" .Release.Name (include "rule-server.name" .) | trunc 50 | trimSuffix "-" }}
{{- end }}
{{- end }}

{{/* Labels that select: they never change, so an upgrade can keep the Deployment. Called with (dict "root" $ "role" "api"). */}}
{{- define "rule-server.selector" -}}
app.kubernetes.io/name: {{ include "rule-server.name" .root }}
app.kubernetes.io/instance: {{ .root.Release.Name }}
app.kubernetes.io/component: {{ .role }}
{{- end }}

{{- define "rule-server.labels" -}}
{{ include "rule-server.selector" . }}
app.kubernetes.io/version: {{ .root.Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ .root.Release.Service }}
helm.sh/chart: {{ printf "%s-%s" .root.Chart.Name .root.Chart.Version }}
{{- end }}

{{- define "rule-server.secretName" -}}
{{- default (printf "%s-settings" (include "rule-server.fullname" .)) .Values.existingSecret }}
{{- end }}

{{- define "rule-server.serviceAccountName" -}}
{{- if .Values.serviceAccount.create }}
{{- default (include "rule-server.fullname" .) .Values.serviceAccount.name }}
{{- else }}
{{- default "default" .Values.serviceAccount.name }}
{{- end }}
{{- end }}

{{- define "rule-server.image" -}}
{{ .Values.image.repository }}:{{ default .Chart.AppVersion .Values.image.tag }}
{{- end }}

{{/* Environment that APIs and workers share: settings, then the secret, then extraEnv. */}}
{{- define "rule-server.sharedEnv" -}}
{{- range $name, $value := .Values.settings }}
{{- if has $name (list "HOST" "PORT" "WORKER_PORT" "SHARED_DIR" "SHUTDOWN_GRACE_MS") }}
{{- fail (printf "settings.%s is set by the chart: leave it out" $name) }}
{{- end }}
- name: {{ $name }}
  value: {{ if kindIs "float64" $value }}{{ $value | int64 | quote }}{{ else }}{{ $value | toString | quote }}{{ end }}
{{- end }}
{{- if .Values.redis.example }}
- name: REDIS_URL
  value: redis://{{ include "rule-server.fullname" . }}-redis:6379
{{- end }}
{{- with .Values.extraEnv }}
{{ toYaml . }}
{{- end }}
{{- end }}

{{/* Who may reach a setting that holds a secret: the pod alone. */}}
{{- define "rule-server.envFrom" -}}
{{- if or .Values.existingSecret .Values.secret }}
envFrom:
  - secretRef:
      name: {{ include "rule-server.secretName" . }}
{{- end }}
{{- end }}

{{- define "rule-server.containerSecurity" -}}
allowPrivilegeEscalation: false
readOnlyRootFilesystem: true
capabilities:
  drop: [ALL]
{{- end }}

{{/* What both kinds of pod say about where they run. Called with (dict "root" $ "role" "api" "values" .Values.api). */}}
{{- define "rule-server.placement" -}}
{{- with .values.nodeSelector }}
nodeSelector:
  {{- toYaml . | nindent 2 }}
{{- end }}
{{- with .values.tolerations }}
tolerations:
  {{- toYaml . | nindent 2 }}
{{- end }}
{{- with .values.affinity }}
affinity:
  {{- toYaml . | nindent 2 }}
{{- end }}
topologySpreadConstraints:
{{- if .values.topologySpreadConstraints }}
  {{- toYaml .values.topologySpreadConstraints | nindent 2 }}
{{- else }}
  - maxSkew: 1
    topologyKey: kubernetes.io/hostname
    whenUnsatisfiable: ScheduleAnyway
    labelSelector:
      matchLabels:
        {{- include "rule-server.selector" . | nindent 8 }}
{{- end }}
{{- end }}
