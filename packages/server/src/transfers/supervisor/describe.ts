import type { Database } from '../../db/database.ts'
import { describedBy, inWords, isSameDescribed, otherIdentity } from '../described.ts'
import { consequencesOf } from '../reads-again.ts'
import type { FrozenSides } from '../sides.ts'
import { recordReset } from '../state-queries.ts'
import type { WorkRow } from './claim-queries.ts'
import * as queries from './describe-queries.ts'
import { Lost } from './endings.ts'

/**
 * Binds the state of a connection to the settings of the transfer that begins or continues. If they name other data or another place than
 * the state describes, the state is forgotten before anything is read. A replay reads no source.
 * @param say adds a sentence to the log of the transfer
 * @returns whether the stored state is another one now
 */
export async function describeState(
  database: Database,
  work: WorkRow,
  { source, destination }: FrozenSides,
  say: (sentence: string) => void,
): Promise<boolean> {
  const { id, attempt, connectionId, describes, replayOf } = work
  const present = describedBy({
    ...work,
    srcSettings: source.frozen.settings,
    destSettings: destination.frozen.settings,
  })
  const now = replayOf !== null && describes ? { ...present, source: describes.source } : present
  if (isSameDescribed(describes, now)) return false
  const connectors = { source: source.connector, destination: destination.connector }
  const other = otherIdentity(connectors, describes, now)
  const isElsewhere = other !== undefined && other.destination.length > 0
  const forgets = await database.transaction(async (tx) => {
    const before = await queries.holdState.first(tx, { id, attempt, connectionId })
    if (!before) throw new Lost()
    const isForgotten = other !== undefined && before.cursor
    if (isForgotten) await recordReset.run(tx, { connectionId, what: 'settings' })
    const values = { connectionId, describes: JSON.stringify(now), forgets: other !== undefined, isElsewhere }
    await queries.describe.run(tx, values)
    return isForgotten
  })
  if (other === undefined || !forgets) return other !== undefined
  say(`The source is read from its beginning, ${inWords(other)}.`)
  if (isElsewhere) return true
  for (const { message } of await consequencesOf(database, connectors, work)) say(message)
  return true
}
