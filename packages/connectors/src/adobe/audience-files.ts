import { ConnectorError, type Values } from '@penstock/connector'
import type { BatchRow } from '../platform-api/rows/batch-rows.ts'
import { type Read, wrong } from '../platform-api/rows/events.ts'

/** Adobe's data sources whose IDs are device IDs, and the required form of an ID. */
const devices: Readonly<Record<string, (id: string) => string>> = {
  20914: (id) => id.toLowerCase(),
  20915: (id) => id.toUpperCase(),
}
const devicePattern = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i

/**
 * The name of an inbound file below the directory of the customer: a folder for the day, then
 * `ftp_dpm_DPID[_DPID_TARGET_DATA_OWNER]_TIMESTAMP.sync.gz`. Throws `invalid_setting` for IDs that are no numbers, and if device IDs
 * have no target data source.
 */
export function nameOfInbound(settings: Values, startedMs: number): string {
  const source = idOf(settings.dataSourceId, 'The data source ID')
  const target = settings.targetDataSourceId && idOf(settings.targetDataSourceId, 'The target data source ID')
  if (devices[source] && !target) {
    const message = `The data source ${source} has IDs of devices: set the target data source ID, whose traits they get.`
    throw new ConnectorError('invalid_setting', message)
  }
  const day = new Date(startedMs).toISOString().slice(0, 10)
  const ids = target ? `${source}_${target}` : source
  const mode = settings.synchronization === 'overwrite' ? 'overwrite' : 'sync'
  return `date=${day}/ftp_dpm_${ids}_${Math.floor(startedMs / 1000)}.${mode}.gz`
}

function idOf(value: unknown, label: string): string {
  const id = String(value ?? '').trim()
  if (/^\d{1,18}$/.test(id)) return id
  throw new ConnectorError('invalid_setting', `${label} must be a number, such as 1234.`)
}

/** The line of a row: the ID of the user, a tab, and the traits that the user gets and loses. */
export function inboundLine(row: BatchRow, settings: Values): Read<string> {
  const id = row.text('userId')
  if (id === undefined) return wrong('There is no user ID.', 'userId')
  // A colon is what Adobe refuses in IDs of users, encoded or not.
  if (/[\s\p{Cc}:]|%3A/iu.test(id)) return wrong('The user ID contains white space or a colon.', 'userId')
  const form = devices[String(settings.dataSourceId).trim()]
  if (form && !devicePattern.test(id)) return wrong('The user ID is not an advertising ID of a device.', 'userId')
  const traits: string[] = []
  for (const [column, prefix] of [
    ['traits', 'd_sid'],
    ['removedTraits', 'd_unsid'],
  ] as const) {
    for (const trait of new Set((row.text(column) ?? '').split(',').map((one) => one.trim()))) {
      if (trait === '') continue
      if (!/^\d{1,18}$/.test(trait)) return wrong('A trait ID is not a number; separate IDs with commas.', column)
      traits.push(`${prefix}=${trait}`)
    }
  }
  if (traits.length === 0) return wrong('There is no trait ID.', 'traits')
  return { read: `${form ? form(id) : id}\t${traits.join(',')}` }
}

/** The time in the name of an outbound file, with the number of its part: later files have later texts. */
export const orderOfOutbound = (name: string): string => /_(\d{13,})\.sync(?:\.gz)?$/.exec(name)?.[1] ?? ''
