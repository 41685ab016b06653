import { type Connector, fieldsOfRole, type Values } from '@penstock/connector'
import { sendsChangedRows, sideSettings } from '@penstock/engine'
import type { Db } from '../db/database.ts'
import { sentBefore } from './state-queries.ts'

/** Ways to write that add rows without a key. */
const insertingModes: readonly unknown[] = ['Insert', 'Append']

/**
 * Whether a transfer of a whole source adds rows that the destination has.
 * @param forgets whether the cursor does not count, though there is one
 * @returns a sentence that names the settings to change; `undefined` if it does not
 */
export async function insertsAgain(
  db: Db,
  { source, destination }: { readonly source: Connector; readonly destination: Connector },
  {
    connectionId,
    destConfig,
    forgets = false,
  }: { readonly connectionId: string; readonly destConfig: Values; readonly forgets?: boolean },
): Promise<string | undefined> {
  const settings = sideSettings(destination, 'Destination', destConfig)
  if (sendsChangedRows(settings) || !insertingModes.includes(settings.writeMode)) return undefined
  const { sent = false } = (await sentBefore.first(db, { connectionId, forgets })) ?? {}
  if (!sent) return undefined
  const fields = fieldsOfRole(destination, 'Destination')
  const { options = [], labels = {} } = fields.writeMode ?? {}
  const byKey = options.filter((mode) => !insertingModes.includes(mode)).map((mode) => labels[mode] ?? mode)
  const { syncMode } = fieldsOfRole(source, 'Source')
  const ways = [
    ...(byKey.length > 0 ? [`set "${fields.writeMode?.label}" to ${byKey.join(' or ')}`] : []),
    `set "${fields.sendRows?.label}" to ${fields.sendRows?.labels?.Changed}`,
    ...(syncMode?.options?.includes('Incremental')
      ? [`set "${syncMode.label}" of the source to ${syncMode.labels?.Incremental}`]
      : []),
  ]
  return `Rows that earlier transfers sent are inserted again, because the source is read from its beginning. To avoid that, ${ways.join(', or ')}.`
}
