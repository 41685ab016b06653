import { type Chunk, rawOf } from '@penstock/connector'
import { type Expression, reasonOf } from '@penstock/expressions'
import { skipCode } from '../../../skipped.ts'
import { inSlices } from '../../../slices.ts'
import type { MappedChunk } from '../../filled-batch.ts'

const code = skipCode('filtered')

/**
 * Skips the rows that do not meet a condition, and rejects rows for which the condition fails. Rows to be removed at the
 * destination pass, because only their key is known.
 */
export async function filterRows(
  filter: Expression,
  mapped: MappedChunk,
  { errors: broken, removed }: Pick<Chunk, 'errors' | 'removed'>,
): Promise<MappedChunk> {
  const { errors } = mapped
  const rows = rawOf(mapped.rows)?.openedBy(filter.columns) ?? mapped.rows
  const skipped = mapped.skipped?.slice() ?? new Uint8Array(rows.length)
  const failed = new Map(errors)
  let isPassed = true
  await inSlices(rows.length, (from, until) => {
    for (let at = from; at < until; at++) {
      if (skipped[at] !== 0 || errors.has(at) || broken?.has(at) || removed?.has(at)) continue
      try {
        if (filter.evaluate(rows[at] ?? []) === true) continue
        skipped[at] = code
      } catch (error) {
        failed.set(at, { field: 'filter', reason: `The filter has no value: ${reasonOf(error)}` })
      }
      isPassed = false
    }
  })
  return isPassed ? mapped : { ...mapped, errors: failed, skipped }
}
