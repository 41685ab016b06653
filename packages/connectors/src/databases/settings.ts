import type { FieldValue, Values } from '@penstock/connector'
import { noValue } from '../kit/names.ts'

/** Secrets and settings of the fields in `fields.ts`, read once into what they mean. */

/** Whether a stored password signs in, or a token of the cloud that hosts the database. */
export type SignInWay = 'password' | 'aws-iam' | 'google-iam' | 'entra-id'

/** Where a database is and how to get in. */
export type Place = {
  readonly host: string
  readonly port: number
  readonly database: string
  readonly user: string
  readonly signIn: SignInWay
  /** Empty unless `signIn` is `password`. */
  readonly password: string
  readonly tls: 'disable' | 'require' | 'verify-full'
  readonly ca: string | undefined
}

/** The settings of a source, as they are read. */
export type Reading = {
  readonly from: { readonly schema: string; readonly table: string } | { readonly query: string }
  /** As the settings name them; empty if they do not. */
  readonly keys: readonly string[]
  /** Absent if each transfer reads all rows. */
  readonly cursor: string | undefined
  readonly lagSeconds: number
  /** How many hours before the last cursor are read again. */
  readonly lookBackHours: number
  readonly timezone: string
  readonly waitMs: number
}

/** Where rows go. */
export type Writing = {
  readonly schema: string
  readonly table: string
  readonly upsert: boolean
  /** Empty unless `upsert`. */
  readonly keys: readonly string[]
  readonly create: boolean
}

export function placeOf(secrets: Values, defaultPort: number): Place {
  const tls = textOf(secrets, 'tlsMode', 'verify-full')
  const ca = textOf(secrets, 'caCertificate', '')
  const way = textOf(secrets, 'authType', 'password')
  const signIn = way === 'aws-iam' || way === 'google-iam' || way === 'entra-id' ? way : 'password'
  return {
    host: textOf(secrets, 'host').trim(),
    port: numberOf(secrets, 'port', defaultPort),
    database: textOf(secrets, 'database'),
    user: textOf(secrets, 'user', signIn === 'password' ? undefined : ''),
    signIn,
    password: signIn === 'password' ? textOf(secrets, 'password') : '',
    tls: tls === 'disable' || tls === 'require' ? tls : 'verify-full',
    // A PEM that was pasted into one line keeps its line breaks as \n.
    ca: ca && tls === 'verify-full' ? ca.replaceAll('\\n', '\n') : undefined,
  }
}

export function readingOf(settings: Values, defaultSchema: string): Reading {
  const incremental = settings.syncMode === 'Incremental'
  const query = settings.dataSourceType === 'SQL Query'
  return {
    from: query
      ? { query: bareQuery(textOf(settings, 'sqlQuery')) }
      : { schema: textOf(settings, 'schema', defaultSchema), table: textOf(settings, 'table') },
    keys: namesIn(settings.keyColumns),
    cursor: incremental ? textOf(settings, 'markerColumn').trim() : undefined,
    lagSeconds: numberOf(settings, 'lagSeconds', 60),
    lookBackHours: incremental ? numberOf(settings, 'lookBackHours', 0) : 0,
    timezone: textOf(settings, 'timezone', 'UTC'),
    waitMs: numberOf(settings, 'statementTimeoutSeconds', 1800) * 1000,
  }
}

export function writingOf(settings: Values, defaultSchema: string): Writing {
  const upsert = settings.writeMode === 'Upsert'
  const keys = upsert ? namesIn(settings.keyColumns) : []
  if (upsert && keys.length === 0) throw noValue('keyColumns')
  return {
    schema: textOf(settings, 'schema', defaultSchema),
    table: textOf(settings, 'table'),
    upsert,
    keys,
    create: settings.createTable === true,
  }
}

/** A query without the semicolons at its end, so that it can stand in brackets. */
export const bareQuery = (query: string): string => query.replace(/[\s;]+$/, '')

/** The names in a list that a person wrote, each once. */
function namesIn(value: FieldValue | undefined): readonly string[] {
  const names = typeof value === 'string' ? value.split(',').map((name) => name.trim()) : []
  return [...new Set(names.filter(Boolean))]
}

function textOf(values: Values, key: string, otherwise?: string): string {
  const value = values[key]
  if (typeof value === 'string' && value !== '') return value
  if (otherwise === undefined) throw noValue(key)
  return otherwise
}

function numberOf(values: Values, key: string, otherwise: number): number {
  const value = values[key]
  return typeof value === 'number' ? value : otherwise
}
