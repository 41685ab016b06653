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
# More than the drain, 30 seconds for requests in flight and 10 for transfers to be given back.
terminationGracePeriodSeconds: {{ add $root.Values.api.drainSeconds 50 }}
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
      - { name: PENSTOCK_COMMAND, value: {{ printf "kubectl --namespace %s exec deploy/%s-api -- penstock" $root.Release.Namespace (include "penstock.name" $root) | quote }} }
      # Generated credentials would be lost with the pod: NOTES.txt has the command that creates them.
      - { name: PENSTOCK_FIRST_ORGANIZATION, value: '0' }
      {{- if or $root.Values.certificates.configMap $root.Values.certificates.secret }}
      - { name: NODE_EXTRA_CA_CERTS, value: {{ printf "/etc/penstock/certificates/%s" $root.Values.certificates.key | quote }} }
      {{- end }}
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
      {{- if or $root.Values.certificates.configMap $root.Values.certificates.secret }}
      - { name: certificates, mountPath: /etc/penstock/certificates, readOnly: true }
      {{- end }}
      {{- with $root.Values.databaseTls.secret }}
      - { name: database-tls, mountPath: /etc/penstock/database-tls, readOnly: true }
      {{- end }}
volumes:
  - name: secrets
    secret:
      secretName: {{ include "penstock.secret" $root }}
      defaultMode: 0440
  # Nothing in them outlives the pod: all that lasts is in PostgreSQL.
  - { name: data, emptyDir: {} }
  - { name: temporary, emptyDir: {} }
  {{- with $root.Values.certificates.configMap }}
  - name: certificates
    configMap: { name: {{ . | quote }} }
  {{- end }}
  {{- with $root.Values.certificates.secret }}
  - name: certificates
    secret: { secretName: {{ . | quote }}, defaultMode: 0440 }
  {{- end }}
  {{- with $root.Values.databaseTls.secret }}
  - name: database-tls
    secret: { secretName: {{ . | quote }}, defaultMode: 0440 }
  {{- end }}
{{- end }}
