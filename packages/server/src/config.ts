import { createHash } from 'node:crypto'
import { isIP } from 'node:net'
import { isAbsolute, join, resolve } from 'node:path'
import type { PlainHttp } from '@penstock/connector'
import { limits } from '@penstock/wire'
import {
  between,
  defaultUrl,
  type Given,
  hostName,
  isNetwork,
  isOrigin,
  postgresAddress,
  readFirstClient,
  webAddress,
  words,
} from './config-values.ts'
import { splitAddress } from './db/addresses.ts'
import { problemOfTls } from './db/tls.ts'
import { type EgressSettings, exposureOf, readDestinations, readEgress } from './egress-settings.ts'
import { readTelemetrySettings, type TelemetrySettings } from './otel-settings.ts'
import { type QuotaSettings, quotaMax } from './quota-settings.ts'
import { readSecretManagers, type SecretManagerSettings } from './secret-manager-settings.ts'
import { type MasterKey, parseMasterKey } from './secrets/seal.ts'
import { type Environment, readSettings } from './secrets/setting-files.ts'
import { readStreamSettings, type StreamSettings } from './stream-settings.ts'

/**
 * Every setting, read only here. `docs/operating.md` describes each; a test compares the two.
 */
export type Config = {
  host: string
  port: number
  /** Where callers reach the service, without a trailing slash; links in replies begin with it. */
  publicUrl: string
  dataDirectory: string
  /** Undefined: the embedded PostgreSQL in the data directory. */
  databaseUrl: string | undefined
  /** A pooler in transaction mode in front of the database, for every statement that does not need a session. */
  poolerUrl: string | undefined
  /** A standby of the database, for lists and reports. */
  replicaUrl: string | undefined
  databasePoolSize: number
  /** Whether `serve` creates the first organization, with credentials that it keeps in the data directory. */
  createsFirstOrganization: boolean
  /** Credentials of the first organization, taken on the first start. */
  firstClient: { id: string; secret: string } | undefined
  masterKey: MasterKey | undefined
  nextMasterKey: MasterKey | undefined
  environment: { name: string; id: string; host: string }
  tokenLifetimeSeconds: number
  /** Traces and metrics for a collector, by the standard settings of OpenTelemetry. */
  telemetry: TelemetrySettings
  /** Requests per minute for each client. 0 means no limit. */
  rateLimitPerMinute: number
  /** The quotas of organizations without own limits (`organizations/limits.ts`). */
  quotas: QuotaSettings
  /** Open HTTP connections of this process, in total and from one address. 0 means no limit. */
  httpConnections: { readonly total: number; readonly perAddress: number }
  /** How long a process that was asked to stop still serves, so that proxies send their requests elsewhere. */
  drainSeconds: number
  corsOrigins: readonly string[]
  trustedProxies: readonly string[]
  /** Whether `serve` also works on background jobs. */
  worker: boolean
  /** Where a `worker` process serves its health and its metrics; undefined: nowhere. */
  monitor: { readonly host: string; readonly port: number } | undefined
  /** Transfers that run concurrently, and for how long each can run. */
  transfers: {
    /** In this process. */
    readonly atOnce: number
    /** Of one organization and of one sub-account, in this process. */
    readonly perOrganizationHere: number
    readonly perAccountHere: number
    /** Transfers of one organization over all processes. 0 means no limit. */
    readonly perOrganization: number
    /** Transfers of one sub-account and on one platform, over all processes. 0 means no limit. */
    readonly perAccount: number
    readonly perPlatform: number
    /** Parts of one transfer over all processes (1: transfers are not divided), and the smallest size of a part. */
    readonly perTransfer: number
    readonly partMb: number
    /** From the start to the end. */
    readonly hours: number
    /** Without a row read or delivered for so long, a transfer is stopped and tried again. */
    readonly progressSeconds: number
  }
  /** Concurrent checks and previews in this process, in total and per organization. */
  interactive: { readonly atOnce: number; readonly perOrganization: number }
  /** Memory limit of one runner, the process that runs the code of connectors. */
  runnerMemoryMb: number
  /** The user that runners are started as, as it was entered. If undefined, the user is chosen at the start. */
  runnerUser: string | undefined
  /** Whether programs that the operator added run without a wall around them. */
  programsAreOpen: boolean
  /** The files that secrets were read from. Absolute paths. */
  secretFiles: readonly string[]
  /** A worker that sends no heartbeat for this long is considered dead, and another one continues its transfers. */
  heartbeatTimeoutSeconds: number
  /** How long a transfer retries transient errors. */
  retrySeconds: number
  /** Rejected records that are kept of one transfer, bytes of their values, and for how long. */
  rejects: { readonly max: number; readonly bytesMax: number; readonly days: number }
  /** Uploaded files: bytes of one and of all of a sub-account, and hours for which they are kept. */
  uploads: { readonly bytesMax: number; readonly accountBytesMax: number; readonly hours: number }
  streams: StreamSettings
  /** Days for which transfers are kept after they have ended. 0 keeps them as long as their connection. */
  transferDays: number
  /** Days for which single entries of the ledger are kept. After that, only their sums by connection and day are kept. */
  ledgerDays: number
  /** Days for which events of the audit log are kept. 0 keeps them forever. */
  auditDays: number
  /** A transfer that replaces everything with less than this part of what the last one sent waits for confirmation. */
  replacePercentMin: number
  egress: EgressSettings
  /** The secret managers that configurations can refer to. */
  secretManagers: readonly SecretManagerSettings[]
  /** The hosts to which connectors can send secrets over http://. */
  plainHttp: PlainHttp
  /** Directories that the local folder connector can read and write. */
  localFolders: readonly string[]
  /** Directory of the connectors that the operator added. An absolute path. */
  connectorsFolder: string
  /** The sender address and the server for mail. If undefined, no mail is sent. */
  mail: { readonly url: string; readonly from: string } | undefined
  /** The command that a person types here to run Penstock. Hints name it. */
  readonly command: string
  logLevel: LogLevel
}

const logLevels = ['fatal', 'error', 'warn', 'info', 'debug', 'trace', 'silent'] as const
export type LogLevel = (typeof logLevels)[number]

/** Settings that cannot be used. Each line names a setting and says what it expects. */
export class ConfigError extends Error {
  readonly fieldErrors: readonly string[]
  constructor(fieldErrors: readonly string[]) {
    super(fieldErrors.join('\n'))
    this.fieldErrors = fieldErrors
  }
}

export const masterKeyHint = 'Make one with: openssl rand -base64 32'

/** Settings that are secret, each with the setting that names a file with its value. */
const files = {
  DATABASE_URL: 'DATABASE_URL_FILE',
  PENSTOCK_DATABASE_DIRECT_URL: 'PENSTOCK_DATABASE_DIRECT_URL_FILE',
  PENSTOCK_DATABASE_REPLICA_URL: 'PENSTOCK_DATABASE_REPLICA_URL_FILE',
  PENSTOCK_MASTER_KEY: 'PENSTOCK_MASTER_KEY_FILE',
  PENSTOCK_NEXT_MASTER_KEY: 'PENSTOCK_NEXT_MASTER_KEY_FILE',
  PENSTOCK_CLIENT_SECRET: 'PENSTOCK_CLIENT_SECRET_FILE',
  PENSTOCK_SMTP_URL: 'PENSTOCK_SMTP_URL_FILE',
  PENSTOCK_OUTGOING_PROXY: 'PENSTOCK_OUTGOING_PROXY_FILE',
}

/**
 * Reads the settings from the environment, and from the files that it names.
 * @param listens whether the process serves the API. A process that does not serve it cannot know who has access to it.
 * @throws ConfigError that lists every invalid setting
 */
export function readConfig(env: Environment, { listens = true }: { listens?: boolean } = {}): Config {
  const fieldErrors: string[] = []
  const given = readSettings(env, files, fieldErrors)
  const read = <T>(name: string, fallback: T, parse: (value: string) => T | undefined, expected: string): T => {
    const value = given(name)
    const parsed = value === undefined ? fallback : parse(value)
    if (parsed === undefined && value !== undefined) fieldErrors.push(`${name} must be ${expected}.`)
    return parsed as T
  }
  const list = (name: string, fits: (entry: string) => boolean, expected: string): string[] => {
    const entries = words(given(name))
    const wrong = entries.findIndex((entry) => !fits(entry)) + 1
    if (wrong > 0) fieldErrors.push(`${name} must list ${expected}. Entry ${wrong} is not valid.`)
    return entries
  }
  const whole = (name: string, fallback: number, min: number, max: number) =>
    read(name, fallback, (value) => between(value, min, max), `a whole number from ${min} to ${max}`)

  const listening = (name: string) =>
    read(
      name,
      '127.0.0.1',
      (value) => (isIP(value) || hostName.test(value) ? value : undefined),
      'an IP address or a host name, such as 127.0.0.1, localhost or ::1 (without brackets)',
    )
  const host = listening('PENSTOCK_HOST')
  const port = whole('PENSTOCK_PORT', 8080, 1, 65_535)
  const monitorHost = listening('PENSTOCK_WORKER_HOST')
  const monitorPort =
    given('PENSTOCK_WORKER_PORT') === undefined ? undefined : whole('PENSTOCK_WORKER_PORT', 0, 1, 65_535)
  const publicUrl = read(
    'PENSTOCK_PUBLIC_URL',
    defaultUrl(host, port),
    webAddress,
    'an http or https address without query or fragment, such as https://penstock.example.com',
  )
  const masterKeySetting = (name: string) =>
    read(name, undefined, parseMasterKey, `32 bytes in base64 or hexadecimal. ${masterKeyHint}`)
  const masterKey = masterKeySetting('PENSTOCK_MASTER_KEY')
  const addressSetting = (name: string) => {
    const address = read(
      name,
      undefined,
      postgresAddress,
      'a postgres:// or postgresql:// address; several hosts have commas between them',
    )
    const problem = address && problemOfTls(address)
    if (problem) fieldErrors.push(`${name}: ${problem}`)
    return address
  }
  const usualUrl = addressSetting('DATABASE_URL')
  const directUrl = addressSetting('PENSTOCK_DATABASE_DIRECT_URL')
  const databaseUrl = directUrl ?? usualUrl
  if (given('PENSTOCK_DATABASE_DIRECT_URL') && !given('DATABASE_URL')) {
    fieldErrors.push('PENSTOCK_DATABASE_DIRECT_URL needs DATABASE_URL: the address of the pooler in front of it.')
  }
  if (usualUrl && given('PGSSLMODE') && !usualUrl.includes('sslmode=')) {
    fieldErrors.push('PGSSLMODE is not used. Add sslmode to DATABASE_URL, such as ?sslmode=verify-full.')
  }
  if (directUrl && usualUrl && splitAddress(usualUrl).length > 1) {
    fieldErrors.push(
      'With PENSTOCK_DATABASE_DIRECT_URL, DATABASE_URL must have exactly one host: the host of the pooler.',
    )
  }
  if (given('DATABASE_URL') && !given('PENSTOCK_MASTER_KEY')) {
    fieldErrors.push(
      `PENSTOCK_MASTER_KEY is needed with DATABASE_URL: it seals every secret in that database. ${masterKeyHint} and keep it safe; without it the secrets cannot be read.`,
    )
  }
  const name = given('PENSTOCK_ENVIRONMENT') ?? 'production'
  if (name.length > 100) fieldErrors.push('PENSTOCK_ENVIRONMENT must have at most 100 characters.')

  const transfersAtOnce = whole('PENSTOCK_TRANSFERS', 6, 1, 100)
  const checksAtOnce = whole('PENSTOCK_CHECKS', 4, 1, 100)
  const egress = readEgress(given, read, listens)
  const dataDirectory = resolve(given('PENSTOCK_DATA_DIR') ?? '.penstock')
  const isLocal = listens && exposureOf(given) === undefined

  const config: Config = {
    host,
    port,
    publicUrl,
    dataDirectory,
    databaseUrl,
    poolerUrl: directUrl === undefined ? undefined : usualUrl,
    replicaUrl: addressSetting('PENSTOCK_DATABASE_REPLICA_URL'),
    databasePoolSize: whole('PENSTOCK_DATABASE_POOL', 10, 2, 200),
    createsFirstOrganization: read(
      'PENSTOCK_FIRST_ORGANIZATION',
      true,
      (value) => ({ 1: true, 0: false })[value],
      '1 or 0',
    ),
    firstClient: readFirstClient(given('PENSTOCK_CLIENT_ID'), given('PENSTOCK_CLIENT_SECRET'), fieldErrors),
    masterKey,
    nextMasterKey: masterKeySetting('PENSTOCK_NEXT_MASTER_KEY'),
    environment: {
      name,
      id: createHash('sha256').update(`environment:${name}`).digest('hex').slice(0, 16),
      host: URL.parse(publicUrl ?? '')?.host ?? '',
    },
    tokenLifetimeSeconds: whole('PENSTOCK_TOKEN_LIFETIME_SECONDS', limits.tokenLifetimeSecondsDefault, 1, 31_536_000),
    rateLimitPerMinute: whole('PENSTOCK_RATE_LIMIT', limits.requestsPerMinuteDefault, 0, 1_000_000),
    quotas: {
      accounts: whole('PENSTOCK_QUOTA_ACCOUNTS', limits.accountsPerOrganizationDefault, 1, quotaMax),
      connections: whole('PENSTOCK_QUOTA_CONNECTIONS', limits.connectionsPerAccountDefault, 1, quotaMax),
      enabledSchedules: whole('PENSTOCK_QUOTA_SCHEDULES', limits.enabledSchedulesPerOrganizationDefault, 1, quotaMax),
      rowsPerMonth: whole('PENSTOCK_QUOTA_ROWS_PER_MONTH', 0, 0, 9_999_999_999),
      requestsPerMinute: whole('PENSTOCK_QUOTA_REQUESTS_PER_MINUTE', 0, 0, 1_000_000_000),
      uploadFiles: whole('PENSTOCK_QUOTA_UPLOAD_FILES', limits.uploadsOfOrganizationDefault, 1, quotaMax),
      uploadsMb: whole('PENSTOCK_QUOTA_UPLOADS_MB', limits.uploadsOfOrganizationMbDefault, 1, quotaMax),
      rejectsMb: whole('PENSTOCK_QUOTA_REJECTS_MB', limits.rejectsOfOrganizationMbDefault, 1, quotaMax),
      digestsMb: whole('PENSTOCK_QUOTA_DIGESTS_MB', limits.digestsOfOrganizationMbDefault, 1, quotaMax),
    },
    httpConnections: {
      total: whole('PENSTOCK_HTTP_CONNECTIONS', limits.httpConnectionsDefault, 1, 1_000_000),
      perAddress: whole('PENSTOCK_HTTP_CONNECTIONS_PER_ADDRESS', limits.httpConnectionsPerAddressDefault, 0, 1_000_000),
    },
    drainSeconds: whole('PENSTOCK_DRAIN_SECONDS', 0, 0, 3_600),
    corsOrigins: list(
      'PENSTOCK_CORS_ORIGINS',
      isOrigin,
      'origins of web pages, such as https://app.example.com: scheme, host and an optional port, without a path',
    ),
    trustedProxies: list(
      'PENSTOCK_TRUSTED_PROXIES',
      isNetwork,
      'IP addresses or networks, such as 10.0.0.5 or 10.0.0.0/8; names are not looked up',
    ),
    worker: read('PENSTOCK_WORKER', true, (value) => ({ 1: true, 0: false })[value], '1 or 0'),
    monitor: monitorPort === undefined ? undefined : { host: monitorHost, port: monitorPort },
    transfers: {
      atOnce: transfersAtOnce,
      perOrganizationHere: whole('PENSTOCK_TRANSFERS_PER_ORGANIZATION', Math.max(1, transfersAtOnce - 1), 1, 100),
      perAccountHere: Math.max(1, transfersAtOnce - 2),
      perOrganization: whole('PENSTOCK_QUOTA_TRANSFERS', 0, 0, 10_000),
      perAccount: whole('PENSTOCK_TRANSFERS_PER_ACCOUNT', 4, 1, 1_000),
      perPlatform: whole('PENSTOCK_TRANSFERS_PER_PLATFORM', 0, 0, 1_000),
      perTransfer: whole('PENSTOCK_PARTS_PER_TRANSFER', 4, 1, 1_000),
      partMb: whole('PENSTOCK_PART_MB', 32, 0, 1_000_000),
      hours: whole('PENSTOCK_TRANSFER_HOURS', 24, 1, 8_760),
      progressSeconds: whole('PENSTOCK_PROGRESS_SECONDS', 900, 1, 86_400),
    },
    interactive: {
      atOnce: checksAtOnce,
      perOrganization: whole('PENSTOCK_CHECKS_PER_ORGANIZATION', Math.max(1, checksAtOnce >> 1), 1, 100),
    },
    runnerMemoryMb: whole('PENSTOCK_RUNNER_MEMORY_MB', 1_024, 256, 1_048_576),
    runnerUser: read(
      'PENSTOCK_RUNNER_USER',
      undefined,
      (value) => (/^[\w.-]{1,64}(?::\d{1,9})?$/.test(value) ? value : undefined),
      'the name of a user, or a number',
    ),
    programsAreOpen: read(
      'PENSTOCK_PROGRAMS',
      false,
      (value) => ({ isolated: false, open: true })[value],
      '`isolated` or `open`',
    ),
    secretFiles: Object.values(files).flatMap((name) => (env[name]?.trim() ? [resolve(env[name].trim())] : [])),
    heartbeatTimeoutSeconds: whole('PENSTOCK_HEARTBEAT_TIMEOUT_SECONDS', 20, 2, 3_600),
    retrySeconds: whole('PENSTOCK_RETRY_SECONDS', 900, 0, 86_400),
    rejects: {
      max: whole('PENSTOCK_REJECTS', 10_000, 0, 1_000_000),
      bytesMax: whole('PENSTOCK_REJECTS_MB', limits.rejectsOfTransferMbDefault, 0, 1_048_576) * 1024 ** 2,
      days: whole('PENSTOCK_REJECT_DAYS', 30, 1, 3_650),
    },
    uploads: {
      bytesMax: whole('PENSTOCK_UPLOAD_MB', limits.uploadMbDefault, 1, 10_240) * 1024 ** 2,
      accountBytesMax: whole('PENSTOCK_UPLOADS_MB', limits.uploadsMbDefault, 1, 1_048_576) * 1024 ** 2,
      hours: whole('PENSTOCK_UPLOAD_HOURS', limits.uploadHoursDefault, 1, limits.uploadHoursMax),
    },
    streams: readStreamSettings(whole),
    transferDays: whole('PENSTOCK_TRANSFER_DAYS', 400, 0, 36_500),
    ledgerDays: whole('PENSTOCK_LEDGER_DAYS', 400, 31, 36_500),
    auditDays: whole('PENSTOCK_AUDIT_RETENTION_DAYS', 365, 0, 36_500),
    replacePercentMin: whole('PENSTOCK_REPLACE_PERCENT', 50, 0, 100),
    egress,
    secretManagers: readSecretManagers(given, fieldErrors),
    plainHttp: { loopback: egress.networkPolicy === 'any', allow: readDestinations(read, 'PENSTOCK_ALLOW_HTTP') },
    localFolders: read(
      'PENSTOCK_LOCAL_FOLDERS',
      isLocal && databaseUrl === undefined && process.getuid?.() !== 0 ? [ownFolderIn(dataDirectory)] : [],
      (value) => (value.split(':').every((folder) => isAbsolute(folder)) ? value.split(':') : undefined),
      'absolute paths of directories, with a colon between them',
    ),
    connectorsFolder: read(
      'PENSTOCK_CONNECTORS_DIR',
      join(dataDirectory, 'connectors'),
      (value) => (isAbsolute(value) ? value : undefined),
      'the absolute path of a directory',
    ),
    mail: readMail(given, fieldErrors),
    telemetry: readTelemetrySettings(given, fieldErrors),
    command: read('PENSTOCK_COMMAND', 'npx penstock-server', (value) => value, 'a command'),
    logLevel: read(
      'PENSTOCK_LOG_LEVEL',
      'info',
      (value) => logLevels.find((level) => level === value.toLowerCase()),
      `one of ${logLevels.join(', ')}`,
    ),
  }
  if (fieldErrors.length > 0) throw new ConfigError(fieldErrors)
  return config
}

function readMail(given: Given, fieldErrors: string[]): Config['mail'] {
  const [url, from] = [given('PENSTOCK_SMTP_URL'), given('PENSTOCK_MAIL_FROM')]
  if (!url && !from) return undefined
  if (!url || !from) {
    fieldErrors.push('PENSTOCK_SMTP_URL and PENSTOCK_MAIL_FROM must be set together, or neither.')
    return undefined
  }
  const parsed = URL.parse(url)
  if (!parsed || !/^smtps?:$/.test(parsed.protocol) || !parsed.hostname) {
    fieldErrors.push(
      'PENSTOCK_SMTP_URL must be an smtp or smtps address, such as smtps://user:password@mail.example.com.',
    )
  }
  if (!/^(?:[^<>@\r\n]*<[^\s<>@,;]+@[^\s<>@,;]+>|[^\s<>@,;]+@[^\s<>@,;]+)$/.test(from)) {
    fieldErrors.push('PENSTOCK_MAIL_FROM must be an e-mail address, such as Penstock <penstock@example.com>.')
  }
  return { url, from }
}

/**
 * The folder that connectors can read and write without a setting, on a machine that only one person uses. Created at the
 * start.
 */
export const ownFolderIn = (dataDirectory: string): string => join(dataDirectory, 'files')

/** The names of all settings that `readConfig` reads. */
export function settingNames(): string[] {
  const names = new Set<string>()
  readConfig(new Proxy({}, { get: (_, name) => void names.add(String(name)) }))
  return [...names]
}
