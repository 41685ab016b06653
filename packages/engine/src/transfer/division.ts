import { ConnectorError, type SourceReader } from '@penstock/connector'
import type { DividedPart, TransferState } from '../protocol.ts'
import type { Sides } from './sides.ts'
import { whyAllRows } from './stages/stages.ts'

/** Whether several workers move a transfer, each a part of it (docs/decisions/parts.md). */

/** A part of raw rows is larger, since the start of its runner takes longer than a part of values. */
const rawFactor = 16

/** The parts of a transfer, and a sentence for people; without parts, the sentence says why there are none. */
export type DividedSource =
  | { readonly sentence: string; readonly parts?: undefined }
  | { readonly sentence: string; readonly parts: readonly DividedPart[]; readonly columns: readonly string[] }

/**
 * Divides a source, if it is large enough and the destination takes parts.
 * @param mapColumns has the mapping of these columns made
 * @returns `undefined` if there is nothing to divide
 * @throws a `ConnectorError` of the source
 */
export async function divisionOf(
  reader: SourceReader,
  state: TransferState,
  sides: Pick<Sides, 'whyNotParts'>,
  mapColumns: (columns: readonly string[]) => Promise<unknown>,
): Promise<DividedSource | undefined> {
  const { divides } = state
  const bytesMin = (divides?.bytesMin ?? 0) * (reader.rawFormat ? rawFactor : 1)
  const division = divides ? await reader.divide?.({ ...divides, bytesMin }) : undefined
  if (!division) return undefined
  const whole = (whyNot: string) => ({ sentence: `One worker moves all records, because ${whyNot}.` })
  // Columns of files are found by opening one.
  const whyNot = division.apart ? undefined : sides.whyNotParts(division, whyAllRows(state))
  if (whyNot !== undefined) return whole(whyNot)
  const columns = await division.columns()
  // There is nothing to read, or an error that reading meets.
  if (columns.length === 0) return undefined
  await mapColumns(columns)
  const whyNotMapped = sides.whyNotParts(division, whyAllRows(state))
  if (whyNotMapped !== undefined) return whole(whyNotMapped)
  const { parts } = division
  return { parts, columns, sentence: `The source is divided into ${parts.length} parts, which workers share.` }
}

/** All parts have the columns that were found when the source was divided. Throws `source_changed` otherwise. */
export function assertSameColumns(all: readonly string[], own: readonly string[]): void {
  if (all.length === own.length && all.every((name, index) => name === own[index])) return
  const message = 'A part of the source has other columns than the first one. Start a new transfer.'
  throw new ConnectorError('source_changed', message, { side: 'Source' })
}
