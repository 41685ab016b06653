import assert from 'node:assert/strict'
import { test } from 'node:test'
import { checkNames } from '../packages/server/src/cli/doctor.ts'
import { settingNames } from '../packages/server/src/config.ts'

/** Every setting has a check of `penstock doctor` that covers what it names, or a reason why the check of its form is enough. */

type CheckName = (typeof checkNames)[number]

/** Settings that name something outside of the process, with the checks that look at it. */
const checked: Readonly<Record<string, readonly CheckName[]>> = {
  DATABASE_URL: ['database', 'migrations', 'clock', 'TLS files'],
  DATABASE_URL_FILE: ['settings', 'database'],
  PENSTOCK_DATABASE_DIRECT_URL: ['database', 'TLS files'],
  PENSTOCK_DATABASE_DIRECT_URL_FILE: ['settings', 'database'],
  PENSTOCK_DATABASE_REPLICA_URL: ['replica', 'TLS files'],
  PENSTOCK_DATABASE_REPLICA_URL_FILE: ['settings', 'replica'],
  PENSTOCK_MASTER_KEY: ['master key'],
  PENSTOCK_MASTER_KEY_FILE: ['settings', 'master key'],
  PENSTOCK_CLIENT_SECRET_FILE: ['settings'],
  PENSTOCK_NEXT_MASTER_KEY_FILE: ['settings'],
  PENSTOCK_SMTP_URL: ['mail'],
  PENSTOCK_SMTP_URL_FILE: ['settings', 'mail'],
  PENSTOCK_HOST: ['listening', 'egress'],
  PENSTOCK_PORT: ['listening'],
  PENSTOCK_PUBLIC_URL: ['public URL', 'listening', 'identity'],
  PENSTOCK_TRUSTED_PROXIES: ['listening'],
  PENSTOCK_DATA_DIR: ['disk', 'master key'],
  PENSTOCK_CONNECTORS_DIR: ['connectors'],
  PENSTOCK_PROGRAMS: ['connectors'],
  PENSTOCK_LOCAL_FOLDERS: ['settings'],
  PENSTOCK_SECRET_MANAGERS: ['settings', 'secret managers'],
  PENSTOCK_RUNNER_USER: ['settings', 'runners', 'connectors'],
  PENSTOCK_RUNNER_MEMORY_MB: ['runners'],
  PENSTOCK_WORKER: ['workers'],
  PENSTOCK_HEARTBEAT_TIMEOUT_SECONDS: ['workers'],
  PENSTOCK_EGRESS: ['egress', 'sign-in'],
  PENSTOCK_EGRESS_ALLOW: ['egress', 'sign-in'],
  PENSTOCK_OUTGOING_PROXY: ['egress'],
  PENSTOCK_OUTGOING_PROXY_FILE: ['egress'],
  PENSTOCK_OUTGOING_PROXY_EXCEPT: ['egress'],
  OTEL_SDK_DISABLED: ['telemetry'],
  OTEL_EXPORTER_OTLP_ENDPOINT: ['telemetry'],
  OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: ['telemetry'],
  OTEL_EXPORTER_OTLP_METRICS_ENDPOINT: ['telemetry'],
  OTEL_EXPORTER_OTLP_LOGS_ENDPOINT: ['telemetry'],
  OTEL_TRACES_EXPORTER: ['telemetry'],
  OTEL_METRICS_EXPORTER: ['telemetry'],
  OTEL_LOGS_EXPORTER: ['telemetry'],
}

const bound = 'a number of this process; its form is checked when it is read'
const byMonitor = 'a worker that cannot listen there does not start, and says so'
/** Settings that name nothing outside of the process, with the reason why the check of their form is enough. */
const formOnly: Readonly<Record<string, string>> = {
  PENSTOCK_DATABASE_POOL: bound,
  PENSTOCK_TOKEN_LIFETIME_SECONDS: bound,
  PENSTOCK_RATE_LIMIT: bound,
  PENSTOCK_QUOTA_ACCOUNTS: bound,
  PENSTOCK_QUOTA_CONNECTIONS: bound,
  PENSTOCK_QUOTA_SCHEDULES: bound,
  PENSTOCK_QUOTA_REQUESTS_PER_MINUTE: bound,
  PENSTOCK_QUOTA_ROWS_PER_MONTH: bound,
  PENSTOCK_QUOTA_UPLOAD_FILES: bound,
  PENSTOCK_QUOTA_UPLOADS_MB: bound,
  PENSTOCK_QUOTA_REJECTS_MB: bound,
  PENSTOCK_QUOTA_DIGESTS_MB: bound,
  PENSTOCK_QUOTA_TRANSFERS: bound,
  PENSTOCK_REJECTS_MB: bound,
  PENSTOCK_TRANSFER_DAYS: bound,
  PENSTOCK_COMMAND: 'a text that is only printed',
  PENSTOCK_HTTP_CONNECTIONS: 'a number; the start logs a warning if the limit of open files is lower',
  PENSTOCK_HTTP_CONNECTIONS_PER_ADDRESS: bound,
  PENSTOCK_TRANSFERS: bound,
  PENSTOCK_TRANSFERS_PER_ORGANIZATION: bound,
  PENSTOCK_TRANSFERS_PER_ACCOUNT: bound,
  PENSTOCK_TRANSFERS_PER_PLATFORM: bound,
  PENSTOCK_PARTS_PER_TRANSFER: bound,
  PENSTOCK_PART_MB: bound,
  PENSTOCK_TRANSFER_HOURS: bound,
  PENSTOCK_PROGRESS_SECONDS: bound,
  PENSTOCK_CHECKS: bound,
  PENSTOCK_CHECKS_PER_ORGANIZATION: bound,
  PENSTOCK_RETRY_SECONDS: bound,
  PENSTOCK_REJECTS: bound,
  PENSTOCK_REJECT_DAYS: bound,
  PENSTOCK_UPLOAD_MB: 'a number; uploads are stored in the database, which has a check',
  PENSTOCK_UPLOADS_MB: 'a number; uploads are stored in the database, which has a check',
  PENSTOCK_STREAM_MB: bound,
  PENSTOCK_STREAMS_MB: bound,
  PENSTOCK_QUOTA_STREAMS_MB: bound,
  PENSTOCK_STREAM_DAYS: bound,
  PENSTOCK_STREAM_EVENTS_PER_SECOND: bound,
  PENSTOCK_STREAM_TOPICS: bound,
  PENSTOCK_UPLOAD_HOURS: bound,
  PENSTOCK_LEDGER_DAYS: bound,
  PENSTOCK_AUDIT_RETENTION_DAYS: bound,
  PENSTOCK_REPLACE_PERCENT: bound,
  PENSTOCK_LOG_LEVEL: 'one of a few words',
  PENSTOCK_DRAIN_SECONDS: bound,
  PENSTOCK_FIRST_ORGANIZATION: 'read only at the first start, which creates the organization or not',
  PENSTOCK_ENVIRONMENT: 'a name that is only shown',
  PENSTOCK_CLIENT_ID: 'read only at the first start, which creates the client',
  PENSTOCK_CLIENT_SECRET: 'read only at the first start, which creates the client',
  PENSTOCK_NEXT_MASTER_KEY: 'read only by `penstock key rotate`, which checks it against the database',
  PENSTOCK_CORS_ORIGINS: 'origins of web pages, which the service never calls',
  PENSTOCK_ALLOW_HTTP: 'hosts that connectors may use; the check of a configuration calls them',
  PENSTOCK_MAIL_FROM: 'an address of mails; whether the server accepts it is known only once a mail is sent',
  PENSTOCK_WORKER_HOST: byMonitor,
  PENSTOCK_WORKER_PORT: byMonitor,
  OTEL_EXPORTER_OTLP_PROTOCOL: 'one word',
  OTEL_EXPORTER_OTLP_TRACES_PROTOCOL: 'one word',
  OTEL_EXPORTER_OTLP_METRICS_PROTOCOL: 'one word',
  OTEL_EXPORTER_OTLP_LOGS_PROTOCOL: 'one word',
}

test('each setting has a check of doctor, or a reason why it needs none', () => {
  const names = settingNames()
  assert(names.length > 60, `${names.length} settings`)
  const entered = [...Object.keys(checked), ...Object.keys(formOnly)]
  assert.deepEqual(
    names.filter((name) => !entered.includes(name)),
    [],
    'a new setting: enter the check of doctor that covers it, or the reason why it needs none',
  )
  assert.deepEqual(
    entered.filter((name) => !names.includes(name)),
    [],
    'these settings do not exist',
  )
  assert.equal(new Set(entered).size, entered.length)
  for (const [name, checks] of Object.entries(checked)) {
    assert(checks.length > 0 && checks.every((check) => checkNames.includes(check)), name)
  }
})
