import type { AudienceMeasure } from '@penstock/connector'
import type { Db } from '../db/database.ts'
import type { DataKey } from '../secrets/data-keys.ts'
import { Unreadable } from '../secrets/seal.ts'
import { openJson, places } from './sealed.ts'
import { listAudienceMeasures } from './state-queries.ts'

/** The measures of the audiences of a connection on a day, `YYYY-MM-DD`. */
export type MeasuredDay = { readonly day: string; readonly measures: readonly AudienceMeasure[] }

/**
 * Opens the measures of a connection, the oldest first. Days that were restored without their key are skipped.
 * @param firstDay `YYYY-MM-DD`; null: all days that are kept
 */
export async function openMeasures(
  db: Db,
  key: DataKey,
  connectionId: string,
  firstDay: string | null,
): Promise<MeasuredDay[]> {
  const days: MeasuredDay[] = []
  for (const { day, sealed } of await listAudienceMeasures.all(db, { connectionId, firstDay })) {
    const measures = await openDay(db, key, connectionId, day, sealed)
    if (measures) days.push({ day, measures })
  }
  return days
}

/** Opens the measures of a day; undefined if the day was restored without its key. */
export async function openDay(
  db: Db,
  key: DataKey,
  connectionId: string,
  day: string,
  sealed: Buffer,
): Promise<readonly AudienceMeasure[] | undefined> {
  try {
    const measures = await openJson(db, key, places.audiences(connectionId, day), sealed)
    return measures as unknown as readonly AudienceMeasure[]
  } catch (error) {
    if (!(error instanceof Unreadable)) throw error
    return undefined
  }
}

/** A share of matched people, 0 to 1, and the average share of the days before. */
type MatchRates = { readonly matchRate: number; readonly matchRateBefore: number }
const measuresMin = 3

/**
 * The match rates of the audience whose rate fell the most, relative to its average. Null if the platform does not say what it got
 * and matched, or no audience has been measured on three days.
 * @param before the days before `newest`
 */
export function matchRatesOf(newest: readonly AudienceMeasure[], before: readonly MeasuredDay[]): MatchRates | null {
  const found = newest.flatMap((audience) => {
    const matchRate = rateOf(audience)
    const rates = before.flatMap(({ measures }) => {
      const same = measures.find(({ id }) => id === audience.id)
      return (same && rateOf(same)) ?? []
    })
    const matchRateBefore = rates.reduce((sum, rate) => sum + rate, 0) / rates.length
    return matchRate === null || rates.length < measuresMin || matchRateBefore === 0
      ? []
      : { matchRate, matchRateBefore }
  })
  const fallen = ({ matchRate, matchRateBefore }: MatchRates) => matchRate / matchRateBefore
  return found.toSorted((a, b) => fallen(a) - fallen(b))[0] ?? null
}

const rateOf = ({ received, matched }: AudienceMeasure): number | null =>
  matched === null || !received ? null : matched / received
