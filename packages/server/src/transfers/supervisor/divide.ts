import type { BatchStart, DividedPart } from '@penstock/engine'
import { seal } from '../../secrets/seal.ts'
import { wakeWorkers } from '../queries.ts'
import { places } from '../sealed.ts'
import type { WorkRow } from './claim-queries.ts'
import type { SupervisorDeps } from './deps.ts'
import { Divided, endingOf, Lost } from './endings.ts'
import type { TransferKeys } from './ledger-writer.ts'
import { divideTransfer, insertParts } from './part-queries.ts'

/** The most parts of a transfer, so that the numbers of their ledger entries are integers of PostgreSQL. */
export const partsMax = 1_000

/** Parts of one statement. */
const partsAtOnce = 100

/**
 * Divides a transfer into parts, which any worker claims from now on.
 * @param keys those of the transfer seal what the source calls its parts; those of the connection are made for the cursors of the parts
 * @throws Divided once that is stored; whatever ends the transfer otherwise, and then nothing is stored
 */
export async function divide(
  { database }: Pick<SupervisorDeps, 'database'>,
  { id, attempt, parts: before }: WorkRow,
  keys: TransferKeys,
  parts: readonly DividedPart[],
  { columns }: BatchStart,
): Promise<never> {
  if (before > 1 || !columns || parts.length < 2 || parts.length > partsMax) {
    throw new Error('A runner divided a transfer in a way that cannot be')
  }
  await database.transaction(async (tx) => {
    const sealing = await keys.transfer.make(tx)
    await keys.connection.make(tx)
    const standing = await divideTransfer.first(tx, {
      id,
      attempt,
      parts: parts.length,
      sourceColumns: JSON.stringify(columns.source),
      columns: JSON.stringify(columns.destination),
      shape: columns.shape ? JSON.stringify(columns.shape) : null,
    })
    if (!standing) throw new Lost()
    const ending = endingOf(standing)
    if (ending) throw ending
    for (let after = 0; after < parts.length; after += partsAtOnce) {
      const some = parts.slice(after, after + partsAtOnce)
      await insertParts.run(tx, {
        id,
        after,
        keys: some.map(({ key: partKey, name }, i) =>
          seal(sealing, places.part(id, after + i + 1), JSON.stringify({ key: partKey, name })).toString('base64'),
        ),
        shares: some.map(({ share }) => share),
      })
    }
    await wakeWorkers.run(tx, {})
  })
  throw new Divided(parts.length)
}
