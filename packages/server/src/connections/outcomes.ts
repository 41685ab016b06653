import type { Values } from '@penstock/connector'
import { type FieldError, outcomesConnectorId } from '@penstock/wire'
import type { Db } from '../db/database.ts'
import * as queries from './outcome-queries.ts'

/** Records of outcomes that connections write to (docs/outcomes.md). */

/**
 * The name or the identifier of the configuration that records the outcomes of a connection. Empty if outcomes are not
 * recorded.
 */
export const outcomesOf = ({ outcomes }: Values): string => String(outcomes ?? '').trim()

/** Why a configuration cannot record outcomes, as sentences. */
export const noOutcomes = (name: string): string =>
  `The sub-account has no configuration “${name}” of the connector Outcomes. Create it, or choose another one in the setting “Record outcomes in”.`
export const isLoop = 'A connection that reads outcomes cannot record outcomes: empty the setting “Record outcomes in”.'

/** The configuration that records outcomes, by its name or its identifier. Undefined if it does not exist. */
export const recordOf = async (db: Db, accountId: string, name: string): Promise<string | undefined> =>
  (await queries.findRecord.first(db, { accountId, connectorId: outcomesConnectorId, name }))?.id

/** The name of a connection. Empty if it no longer exists. */
export const nameOfConnection = async (db: Db, id: string): Promise<string> =>
  (await queries.findName.first(db, { id }))?.name ?? ''

/** Errors of the setting of a connection that is activated. */
export async function outcomesErrors(
  db: Db,
  { accountId, srcConnectorId, destConfig }: { accountId: string; srcConnectorId: string; destConfig: Values },
): Promise<FieldError[]> {
  const name = outcomesOf(destConfig)
  if (name === '') return []
  const field = 'destConnectionConfig.outcomes'
  if (srcConnectorId === outcomesConnectorId) return [{ field, message: isLoop }]
  const id = await recordOf(db, accountId, name)
  return id === undefined ? [{ field, message: noOutcomes(name) }] : []
}
