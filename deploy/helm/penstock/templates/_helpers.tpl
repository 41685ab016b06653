{{- define "penstock.name" -}}
{{- if contains .Chart.Name .Release.Name }}{{ .Release.Name | trunc 50 | trimSuffix "-" }}{{ else }}{{ printf "%s-%s" .Release.Name .Chart.Name | trunc 50 | trimSuffix "-" }}{{ end }}
{{- end }}

{{- define "penstock.selector" -}}
app.kubernetes.io/name: penstock
app.kubernetes.io/instance: {{ .Release.Name }}
{{- end }}

{{- define "penstock.labels" -}}
{{ include "penstock.selector" . }}
app.kubernetes.io/version: {{ .Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ .Release.Service }}
helm.sh/chart: {{ printf "%s-%s" .Chart.Name .Chart.Version }}
{{- end }}

{{- define "penstock.secret" -}}
{{- if .Values.secrets.externalSecret.enabled }}{{ include "penstock.name" . }}{{ else }}{{ .Values.secrets.existingSecret }}{{ end }}
{{- end }}

{{- /* The pod of a process. Takes the root, the component, its arguments, its resources, and more settings and fields of its container. */ -}}
{{- define "penstock.pod" -}}
{{- $root := .root -}}
automountServiceAccountToken: false
enableServiceLinks: false
{{- with $root.Values.imagePullSecrets }}
imagePullSecrets: {{- toYaml . | nindent 2 }}
{{- end }}
securityContext:
  runAsNonRoot: true
  runAsUser: 1000
  runAsGroup: 1000
  fsGroup: 1000
  seccompProfile: { type: RuntimeDefault }
{{- with $root.Values.nodeSelector }}
nodeSelector: {{- toYaml . | nindent 2 }}
{{- end }}
{{- with $root.Values.tolerations }}
tolerations: {{- toYaml . | nindent 2 }}
{{- end }}
terminationGracePeriodSeconds: 60
containers:
  - name: penstock
    image: {{ printf "%s:%s" $root.Values.image.repository ($root.Values.image.tag | default $root.Chart.AppVersion) | quote }}
    imagePullPolicy: {{ $root.Values.image.pullPolicy }}
    args: {{ toJson .args }}
    securityContext:
      allowPrivilegeEscalation: false
      readOnlyRootFilesystem: true
      capabilities: { drop: [ALL] }
    env:
      - { name: DATABASE_URL_FILE, value: /run/secrets/penstock/database-url }
      - { name: PENSTOCK_MASTER_KEY_FILE, value: /run/secrets/penstock/master-key }
      - { name: PENSTOCK_PUBLIC_URL, value: {{ $root.Values.publicUrl | quote }} }
      - { name: PENSTOCK_WORKER, value: '0' }
      {{- with $root.Values.trustedProxies }}
      - { name: PENSTOCK_TRUSTED_PROXIES, value: {{ . | quote }} }
      {{- end }}
      {{- with $root.Values.mail.from }}
      - { name: PENSTOCK_SMTP_URL_FILE, value: /run/secrets/penstock/smtp-url }
      - { name: PENSTOCK_MAIL_FROM, value: {{ . | quote }} }
      {{- end }}
      {{- range $name, $value := .settings }}
      - { name: {{ $name }}, value: {{ $value | quote }} }
      {{- end }}
      {{- range $name, $value := $root.Values.settings }}
      - { name: {{ $name }}, value: {{ $value | quote }} }
      {{- end }}
    resources: {{- toYaml .resources | nindent 6 }}
    {{- with .container }}
    {{- toYaml . | nindent 4 }}
    {{- end }}
    volumeMounts:
      - { name: secrets, mountPath: /run/secrets/penstock, readOnly: true }
      - { name: data, mountPath: /var/lib/penstock }
      - { name: temporary, mountPath: /tmp }
volumes:
  - name: secrets
    secret:
      secretName: {{ include "penstock.secret" $root }}
      defaultMode: 0440
  # Nothing in them outlives the pod: all that lasts is in PostgreSQL.
  - { name: data, emptyDir: {} }
  - { name: temporary, emptyDir: {} }
{{- end }}
