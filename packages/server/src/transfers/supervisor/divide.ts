import type { BatchStart, DividedPart } from '@penstock/engine'
import { seal } from '../../secrets/seal.ts'
import { wakeWorkers } from '../queries.ts'
import { places } from '../sealed.ts'
import type { WorkRow } from './claim-queries.ts'
import type { SupervisorDeps } from './deps.ts'
import { Divided, endingOf, Lost } from './endings.ts'
import type { TransferKeys } from './ledger-writer.ts'
import { divideTransfer, holdTransferOfPart, insertParts } from './part-queries.ts'
import { admitTables, chosenTables } from './tables.ts'

/** The most parts of a transfer, so that the numbers of their ledger entries are integers of PostgreSQL. */
export const partsMax = 1_000

/** Parts of one statement. */
const partsAtOnce = 100

/**
 * Divides a transfer into parts, which any worker claims from now on. If the parts are tables, part 1 is the one that listed them, and ends.
 * @param keys those of the transfer seal what the source calls its parts; those of the connection are made for the cursors of the parts
 * @throws Divided once that is stored; whatever ends the transfer otherwise, and then nothing is stored
 */
export async function divide(
  { database }: Pick<SupervisorDeps, 'database'>,
  work: WorkRow,
  keys: TransferKeys,
  listed: readonly DividedPart[],
  { columns }: BatchStart,
): Promise<never> {
  const { id, attempt, connectionId, parts: before } = work
  const areTables = listed[0]?.table !== undefined
  const parts = areTables ? chosenTables(listed, work.only) : listed
  const isPossible = areTables ? parts.length > 0 : columns !== undefined && parts.length > 1
  if (before > 1 || !isPossible || listed.length > partsMax) {
    throw new Error('A runner divided a transfer in a way that cannot be')
  }
  const listing = areTables ? 1 : 0
  await database.transaction(async (tx) => {
    const sealing = await keys.transfer.make(tx)
    await keys.connection.make(tx)
    if (areTables && !(await holdTransferOfPart.first(tx, { id, connectionId }))) throw new Lost()
    const standing = await divideTransfer.first(tx, {
      id,
      attempt,
      parts: parts.length + listing,
      sourceColumns: columns ? JSON.stringify(columns.source) : null,
      columns: columns ? JSON.stringify(columns.destination) : null,
      shape: columns?.shape ? JSON.stringify(columns.shape) : null,
    })
    if (!standing) throw new Lost()
    const ending = endingOf(standing)
    if (ending) throw ending
    const admitted = areTables ? await admitTables(tx, work, parts, listed) : []
    for (let after = 0; after < parts.length; after += partsAtOnce) {
      const some = parts.slice(after, after + partsAtOnce)
      const first = after + listing + 1
      await insertParts.run(tx, {
        id,
        after: after + listing,
        keys: some.map(({ key: partKey, name }, i) =>
          seal(sealing, places.part(id, first + i), JSON.stringify({ key: partKey, name })).toString('base64'),
        ),
        shares: some.map(({ share }) => share),
        tables: some.map(({ name }) => (areTables ? name : null)),
        statuses: some.map((_, i) => admitted[after + i]?.status ?? 'queued'),
        codes: some.map((_, i) => admitted[after + i]?.code ?? null),
        messages: some.map((_, i) => admitted[after + i]?.message ?? null),
        sides: some.map((_, i) => admitted[after + i]?.side ?? null),
      })
    }
    await wakeWorkers.run(tx, {})
  })
  throw new Divided(parts.length)
}
