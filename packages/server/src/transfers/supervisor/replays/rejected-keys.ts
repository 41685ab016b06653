import { hkdfSync } from 'node:crypto'
import type { Confirmation, RejectedKeysState } from '@penstock/engine'
import type { Database, Transaction } from '../../../db/database.ts'
import type { DataKey } from '../../../secrets/data-keys.ts'
import * as queries from './queries.ts'
import type { Replay } from './replays.ts'

/** How many keys of rejected records a runner compares with; older ones are given up. */
const openMax = 20_000

/** The keys of rejected records of a connection, which are digests under a secret that follows from the key of the connection. */
export async function openRejectedKeys(
  database: Database,
  connectionKey: DataKey,
  connectionId: string,
): Promise<RejectedKeysState> {
  const { key } = (await connectionKey.open(database)) ?? (await database.transaction((tx) => connectionKey.make(tx)))
  const secret = Buffer.from(hkdfSync('sha256', key, '', 'keys of rejected records', 32))
  const found = await queries.openKeys.all(database, { connectionId, limit: openMax + 1 })
  const open = found.slice(0, openMax).map((row) => row.key)
  if (found.length > openMax) await queries.giveUpKeys.run(database, { connectionId, kept: open })
  return { key: secret.toString('base64'), open }
}

/** Marks rejected records whose keys were delivered by later records. A replay delivers old ones: only older records are superseded then. */
export async function supersede(
  tx: Transaction,
  replay: Replay | undefined,
  superseded: Confirmation['superseded'],
): Promise<void> {
  if (superseded.length === 0) return
  const keys = superseded.map(({ key }) => key)
  if (!replay) return void (await queries.supersedeKeys.run(tx, { keys }))
  const numbers = superseded.map(({ row }) => replay.numbers[row - 1] ?? 0)
  await queries.supersedeBefore.run(tx, { keys, numbers, transferId: replay.transferId })
}
