import type { Chunk, Row } from '@penstock/connector'
import type { RowMapping } from '../../../map-rows.ts'
import type { MappedChunk } from '../../filled-batch.ts'
import type { StageKind } from '../stage.ts'

/** Turns the columns of the source into the columns of the destination, and skips rows that the filter of the connection excludes. */
export const mapping: StageKind = {
  // Whether its plan changes values is known once the columns are: `route.ts` asks it, and looks at the filter.
  needsValues: () => undefined,
  needsAllRows: () => undefined,
  open: () => ({ map: (mapped, { source, mapping }) => mapRows(mapping, mapped, source) }),
}

/** Maps the rows that the stages before the mapping neither skipped nor rejected. */
export async function mapRows(
  { map }: Pick<RowMapping, 'map'>,
  { rows, errors, skipped }: MappedChunk,
  { errors: broken, removed }: Pick<Chunk, 'errors' | 'removed'>,
): Promise<MappedChunk> {
  if (!skipped && errors.size === 0)
    return map({ rows, ...(broken && { errors: broken }), ...(removed && { removed }) })
  const kept = [...rows.keys()].filter((at) => !skipped?.[at] && !errors.has(at) && !broken?.has(at))
  const given = kept.map((at) => rows[at] as Row)
  const gone = removed && new Set(kept.flatMap((at, index) => (removed.has(at) ? [index] : [])))
  const own = await map({ rows: given, ...(gone && { removed: gone }) })
  const all = [...rows]
  const failed = new Map(errors)
  const codes = skipped?.slice() ?? new Uint8Array(rows.length)
  for (const [index, at] of kept.entries()) {
    all[at] = own.rows[index] as Row
    codes[at] = own.skipped?.[index] ?? 0
  }
  for (const [index, error] of own.errors) failed.set(kept[index] as number, error)
  return { rows: all, errors: failed, skipped: codes }
}
