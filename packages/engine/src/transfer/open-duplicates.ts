import type { Chunk } from '@penstock/connector'
import type { RowMapping } from '../map-rows.ts'
import type { TransferState } from '../protocol.ts'
import type { RuleWatch } from '../rules/rule-watch.ts'
import { Duplicates } from './duplicates.ts'
import { mapRemovals } from './removals.ts'
import type { SessionDeps } from './session-deps.ts'
import type { Sides } from './sides.ts'

/**
 * Reads what must be known of the source before duplicates are left out; `undefined` if all records are sent.
 * @param mappingFor has the mapping of a chunk made
 * @param rules count records that are read again
 * @throws ConnectorError if a setting is missing, or the source changed since records were confirmed
 */
export async function openDuplicates(
  sides: Sides,
  state: TransferState,
  { keys, job, signal }: Pick<SessionDeps, 'keys' | 'job' | 'signal'>,
  mappingFor: (chunk: Chunk) => Promise<RowMapping>,
  rules: RuleWatch | undefined,
): Promise<Duplicates | undefined> {
  const settings = sides.duplicates
  if (!settings) return undefined
  const { removesBy } = sides
  const duplicates = new Duplicates({ ...state, settings, keys, transferId: job.id, removesBy })
  await duplicates.prepare(
    () => sides.openReader(signal),
    async (chunk) => {
      const { columns, map } = await mappingFor(chunk)
      return { columns, mapped: await mapRemovals(map, sides)(chunk) }
    },
    (chunk, mapped, first) => void rules?.countAgain(chunk, mapped, first),
  )
  return duplicates
}
