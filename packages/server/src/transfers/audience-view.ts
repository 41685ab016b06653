import type { ConnectionState } from '@penstock/wire'
import type { Db } from '../db/database.ts'
import { DataKey } from '../secrets/data-keys.ts'
import type { Keyring } from '../secrets/keyring.ts'
import { maybeSeconds } from '../time.ts'
import { openMeasures } from './audience-measures.ts'
import * as queries from './state-queries.ts'

type Measured = NonNullable<ConnectionState['audiences']>
type ViewDeps = { readonly db: Db; readonly keyring: Keyring }

/** The audiences that a connection feeds, as the platform last said, with the days before; absent if there are none to ask for. */
export async function viewAudiences(
  { db, keyring }: ViewDeps,
  connectionId: string,
): Promise<Pick<ConnectionState, 'audiences'>> {
  const check = await queries.findAudienceCheck.first(db, { connectionId })
  if (!check) return {}
  const key = new DataKey(keyring, check.dataKeyId, async () => {})
  const days = await openMeasures(db, key, connectionId, null)
  const newest = days.at(-1)?.measures ?? []
  const found: Measured['found'] = newest.map((audience) => ({
    ...audience,
    days: days.flatMap(({ day, measures }) => {
      const of = measures.find(({ id }) => id === audience.id)
      return of ? [{ day, low: of.low, high: of.high, matched: of.matched }] : []
    }),
  }))
  return { audiences: { measuredTime: maybeSeconds(check.measuredTime), problem: check.problem, found } }
}
