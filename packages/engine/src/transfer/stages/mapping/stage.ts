import { type Chunk, type Row, rawOf } from '@penstock/connector'
import type { RowMapping } from '../../../map-rows.ts'
import { inSlices } from '../../../slices.ts'
import type { InvalidRow, MappedChunk } from '../../filled-batch.ts'
import type { StageKind } from '../stage.ts'

/** Turns the columns of the source into the columns of the destination. */
export const mapping: StageKind = {
  name: 'mapping',
  passesRaw: true,
  // Whether the mapping changes values is known only after the columns are known. `route.ts` checks it.
  open: () => ({
    map: (mapped, { source, mapping }) =>
      mapping.plan.asIs ? { ...mapped, errors: unmapped(mapped.errors) } : mapRows(mapping, mapped, source),
  }),
}

/** Errors from before the mapping. */
const unmapped = (errors: MappedChunk['errors']): MappedChunk['errors'] =>
  errors.size === 0 ? errors : new Map([...errors].map(([at, error]) => [at, { ...error, isUnmapped: true }]))

/** Maps the rows that the stages before the mapping neither skipped nor rejected. The others keep the columns of the source. */
export async function mapRows(
  { map, computes, raw: rawMapping }: Pick<RowMapping, 'map' | 'computes' | 'raw'>,
  mapped: MappedChunk,
  { errors: broken }: Pick<Chunk, 'errors'>,
): Promise<MappedChunk> {
  const { errors, skipped } = mapped
  const raw = rawMapping && rawOf(mapped.rows)
  const rows = raw ? raw.opened(rawMapping.reads) : mapped.rows
  const mapThese = raw ? rawMapping.map : map
  const complete = (made: readonly Row[]) => (raw ? raw.mapped(rawMapping.view, made).rows : made)
  if (!skipped && errors.size === 0 && !computes) {
    const made = mapThese(rows, broken)
    return { ...mapped, ...made, rows: complete(made.rows) }
  }
  const kept: number[] = []
  for (let at = 0; at < rows.length; at++) {
    if (!skipped?.[at] && !errors.has(at) && !broken?.has(at)) kept.push(at)
  }
  const all = [...rows]
  const failed = new Map<number, InvalidRow['error']>(unmapped(errors))
  const mapSlice = (from: number, until: number): void => {
    const own = mapThese(kept.slice(from, until).map((at) => rows[at] as Row))
    for (const [index, row] of own.rows.entries()) all[kept[from + index] as number] = row
    for (const [index, error] of own.errors) failed.set(kept[from + index] as number, error)
  }
  if (computes) await inSlices(kept.length, mapSlice)
  else mapSlice(0, kept.length)
  return { ...mapped, rows: complete(all), errors: failed }
}
