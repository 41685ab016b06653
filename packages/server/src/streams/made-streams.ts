import type { ActingAccount } from '../call.ts'
import type { Transaction } from '../db/database.ts'
import { makeDataKey } from '../secrets/data-keys.ts'
import type { Keyring } from '../secrets/keyring.ts'
import * as queries from './queries.ts'

/** The stream of a configuration. To be called while the configuration is held. */
export type StreamOf = { readonly id: string; readonly connectorId: string }

/** Creates the stream of a configuration, unless it exists. */
export async function makeStream(
  tx: Transaction,
  { id: accountId, organizationId }: Pick<ActingAccount, 'id' | 'organizationId'>,
  { id, connectorId }: StreamOf,
  keyring: Keyring,
): Promise<void> {
  if (await queries.findStream.first(tx, { id })) return
  const { id: dataKeyId } = await makeDataKey(tx, keyring)
  await queries.insertStream.run(tx, { id, organizationId, accountId, connectorId, dataKeyId })
}
