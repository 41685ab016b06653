import { ConnectorError } from '@penstock/connector'
import { quoteName } from '../plan.ts'
import { type LookupRow, valueIn } from '../raw-rows.ts'
import type { MysqlSession } from '../session.ts'

/** The settings of a server about its binary log. */
export type LogServer = {
  readonly isMariadb: boolean
  /** Of MySQL: 8.4 as 804. */
  readonly version: number
  /** How events are checked: CRC32 or NONE. */
  readonly checksum: string
  /** How long files of the log are kept, in seconds; 0 if they are kept until someone removes them. */
  readonly keptSeconds: number
  /** Whether names of tables are the same that differ in case. */
  readonly ignoresCase: boolean
}

/** A place in the log: the bytes of its files before it are known. */
export type LogPlace = { readonly file: string; readonly position: number }

const asked = [
  'version',
  'log_bin',
  'binlog_format',
  'binlog_row_image',
  'binlog_row_metadata',
  'binlog_row_value_options',
  'binlog_checksum',
  'binlog_expire_logs_seconds',
  'expire_logs_days',
  'log_slave_updates',
  'log_replica_updates',
  'read_only',
  'lower_case_table_names',
]

/**
 * Asserts that the server logs changes as whole rows, with the names of their columns.
 * Throws `not_supported` with the setting of the server to change.
 */
export async function checkServer(session: MysqlSession): Promise<LogServer> {
  const { host } = session.place
  const rows = await session.run(
    `show global variables where variable_name in (${asked.map((name) => `'${name}'`).join(', ')})`,
  )
  const settings = new Map(
    rows.map((row) => [valueIn(host, row, 'Variable_name').toLowerCase(), valueIn(host, row, 'Value')]),
  )
  const settingOf = (name: string): string => settings.get(name)?.toUpperCase() ?? ''
  if (settingOf('log_bin') !== 'ON') {
    throw notSupported(`${host} has no binary log, from which changes are read. Start the server with log_bin.`)
  }
  const required = [
    ['binlog_format', ['ROW'], 'ROW'],
    ['binlog_row_image', ['FULL', 'FULL_NODUP'], 'FULL'],
    ['binlog_row_metadata', ['FULL'], 'FULL'],
  ] as const
  for (const [name, taken, wanted] of required) {
    const value = settingOf(name)
    // A server that has the setting no more logs rows only; one that lacks the names of columns is too old.
    if ((taken as readonly string[]).includes(value) || (value === '' && name === 'binlog_format')) continue
    throw notSupported(
      value === ''
        ? `${host} does not have the setting ${name}, which changes need: use MySQL 8.0 or MariaDB 10.5, or later.`
        : `The binary log of ${host} does not have all that changes need: ${name} is ${value}. Run: SET GLOBAL ${name} = ${wanted}; and set it in the configuration of the server. Sessions that are open keep the old value until they connect again.`,
    )
  }
  if (settingOf('binlog_row_value_options') !== '') {
    throw notSupported(
      `${host} logs only differences of JSON values. Run: SET GLOBAL binlog_row_value_options = ''; and set it in the configuration of the server.`,
    )
  }
  if (
    settingOf('read_only') !== 'OFF' &&
    [settingOf('log_slave_updates'), settingOf('log_replica_updates')].includes('OFF')
  ) {
    throw notSupported(
      `${host} is a replica that does not log the changes it receives. Start it with log_replica_updates (log_slave_updates in MariaDB), or connect to the primary server.`,
    )
  }
  const version = settingOf('version')
  const [, major = '0', minor = '0'] = /^(\d+)\.(\d+)/.exec(version) ?? []
  const days = Number(settingOf('expire_logs_days'))
  return {
    isMariadb: version.includes('MARIADB'),
    version: Number(major) * 100 + Number(minor),
    checksum: settingOf('binlog_checksum') === 'NONE' ? 'NONE' : 'CRC32',
    keptSeconds: Number(settingOf('binlog_expire_logs_seconds')) || Math.round(days * 86_400) || 0,
    ignoresCase: settingOf('lower_case_table_names') !== '0',
  }
}

/**
 * The end of the log. Throws `permission_denied` without REPLICATION CLIENT, `not_supported` if the log leaves the database out.
 */
export async function endOfLog(session: MysqlSession, server: LogServer): Promise<LogPlace> {
  const { host, database } = session.place
  const isRenamed = !server.isMariadb && server.version >= 802
  let row: LookupRow | undefined
  try {
    ;[row] = await session.run(isRenamed ? 'show binary log status' : 'show master status')
  } catch (error) {
    const problem = session.problemOf(error)
    if (!(problem instanceof ConnectorError) || problem.code !== 'permission_denied') throw error
    throw new ConnectorError(
      'permission_denied',
      `The user cannot see the place in the binary log. Run: GRANT REPLICATION SLAVE, REPLICATION CLIENT ON *.* TO ${quoteName(session.place.user)}`,
    )
  }
  if (!row) throw notSupported(`${host} has no binary log, from which changes are read. Start the server with log_bin.`)
  const only = namesIn(row.Binlog_Do_DB)
  if ((only.length > 0 && !only.includes(database)) || namesIn(row.Binlog_Ignore_DB).includes(database)) {
    throw notSupported(
      `The binary log of ${host} leaves out ${database}: change binlog_do_db or binlog_ignore_db in the configuration of the server.`,
    )
  }
  return placeIn(host, row.File, row.Position)
}

/** The time of the server, Unix time in milliseconds. */
export async function timeOf(session: MysqlSession): Promise<number> {
  const [row] = await session.run('select unix_timestamp() as seconds')
  const seconds = Number(valueIn(session.place.host, row, 'seconds'))
  if (Number.isSafeInteger(seconds) && seconds > 0) return seconds * 1000
  throw new ConnectorError('unexpected_response', `${session.place.host} returned an invalid time.`)
}

const namesIn = (list: string | null | undefined): string[] => (list ? list.split(',') : [])

/** The place that the server gives, as texts. */
export function placeIn(host: string, file: string | null | undefined, position: string | null | undefined): LogPlace {
  const offset = /^\d{1,15}$/.test(position ?? '') ? Number(position) : Number.NaN
  if (file && file.length <= 512 && Number.isSafeInteger(offset)) return { file, position: offset }
  throw new ConnectorError('unexpected_response', `${host} names a place in its binary log that is none.`)
}

/** A file of the log, with its size in bytes. */
type LogFile = { readonly file: string; readonly bytes: number }

/** The files that the server has, the oldest first. */
async function filesOf(session: MysqlSession): Promise<LogFile[]> {
  const { host } = session.place
  const files = (await session.run('show binary logs')).map((row) => ({
    file: valueIn(host, row, 'Log_name'),
    bytes: Number(row.File_size) || 0,
  }))
  return files.sort((a, b) => numberOf(a.file) - numberOf(b.file))
}

/** The file of the log behind another one; `undefined` if that is the last one. */
export const fileAfter = async (session: MysqlSession, file: string): Promise<string | undefined> =>
  (await filesOf(session)).find((other) => numberOf(other.file) > numberOf(file))?.file

/** How much of the log is between two places, and how many older files the server still keeps before the first one. */
export type LogLag = { readonly bytes: number; readonly files: number; readonly older: number }

export async function lagOf(session: MysqlSession, from: LogPlace, until: LogPlace): Promise<LogLag> {
  const files = await filesOf(session)
  const [first, last] = [numberOf(from.file), numberOf(until.file)]
  const between = files.filter(({ file }) => numberOf(file) >= first && numberOf(file) < last)
  return {
    bytes: between.reduce((sum, { bytes }) => sum + bytes, 0) - from.position + until.position,
    files: last - first + 1,
    older: files.filter(({ file }) => numberOf(file) < first).length,
  }
}

/** The number of a file of the log: the next one has the next number. */
export const numberOf = (file: string): number => Number(/\.(\d+)$/.exec(file)?.[1] ?? Number.NaN)

/** Whether a place is at another, or behind it. */
export function isBehind(place: LogPlace, other: LogPlace): boolean {
  const [number, otherNumber] = [numberOf(place.file), numberOf(other.file)]
  return number > otherNumber || (number === otherNumber && place.position >= other.position)
}

export const notSupported = (message: string) => new ConnectorError('not_supported', message)
