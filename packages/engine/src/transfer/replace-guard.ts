import { ConnectorError, type SourceReader } from '@penstock/connector'
import type { RowMapping } from '../map-rows.ts'
import type { TransferJob, TransferState } from '../protocol.ts'
import type { RuleWatch, SeenInAdvance } from '../rules/rule-watch.ts'
import type { Duplicates } from './duplicates.ts'
import type { Sides } from './sides.ts'

/**
 * Counts the rows of a replacement and judges them by the rules of the connection, before anything is removed.
 * @throws ConnectorError `confirmation_needed` or `rule_broken`
 */
export async function guardReplacement(
  sides: Sides,
  { confirmed, replay, replaced }: TransferState,
  {
    job,
    onProgress,
    signal,
  }: { readonly job: TransferJob; readonly onProgress: () => void; readonly signal: AbortSignal },
  watch: RuleWatch | undefined,
  duplicates: Duplicates | undefined,
): Promise<void> {
  const rules = watch?.stops ? watch.inAdvance() : undefined
  if (replay || (confirmed && !rules)) return
  const { mappingFor } = sides
  const shareMin = job.replaceShareMin
  const reader = await sides.openReader(signal)
  await guardReplace(reader, { mappingFor, onProgress, replaced, shareMin, confirmed, seen: rules?.add, duplicates })
  duplicates?.restart()
  await rules?.end()
}

/**
 * Reads the whole source, which would replace all data at the destination, and closes it.
 * @param options.replaced how many rows the last replacing transfer sent; `null` for the first one
 * @param options.shareMin the share of these that is enough: 0 to 1
 * @param options.confirmed whether any number of rows is enough
 * @param options.seen called with each chunk
 * @param options.duplicates leaves out duplicates, which are not counted
 * @throws ConnectorError `confirmation_needed` if it has fewer valid rows, or none
 */
async function guardReplace(
  reader: SourceReader,
  {
    mappingFor,
    onProgress,
    replaced,
    shareMin,
    confirmed = false,
    seen,
    duplicates,
  }: {
    mappingFor: (columns: readonly string[]) => Promise<RowMapping>
    onProgress: () => void
    replaced: number | null
    shareMin: number
    confirmed?: boolean
    seen?: SeenInAdvance | undefined
    duplicates: Duplicates | undefined
  },
): Promise<void> {
  let mapping: RowMapping | undefined
  let valid = 0
  let first = 1
  try {
    for await (const chunk of reader.read()) {
      onProgress()
      mapping ??= await mappingFor(chunk.columns)
      const mapped = await mapping.map(chunk)
      const { errors, skipped } = duplicates?.mark(chunk, mapped, mapping.columns, first) ?? mapped
      first += chunk.rows.length
      const isInvalid = (at: number) => chunk.errors?.has(at) || (errors.has(at) && !skipped?.[at])
      const isSkipped = (at: number) => !chunk.errors?.has(at) && skipped !== undefined && skipped[at] !== 0
      let invalid = 0
      for (let at = 0; at < chunk.rows.length; at++) {
        if (isInvalid(at)) invalid++
        else if (!isSkipped(at)) valid++
      }
      seen?.(chunk, invalid, isSkipped)
    }
  } finally {
    await reader.close()
  }
  if (!confirmed) assertEnough(valid, replaced, shareMin)
}

/**
 * Compares the valid rows of a replacement with those of the last one.
 * @throws ConnectorError `confirmation_needed` if there are too few, or none
 */
export function assertEnough(valid: number, replaced: number | null, shareMin: number): void {
  if (valid >= Math.max(1, Math.ceil((replaced ?? 0) * shareMin))) return
  throw new ConnectorError(
    'confirmation_needed',
    `This would replace everything that is there by ${valid} records${replaced ? `; the last time there were ${replaced}` : ''}. Nothing was changed: check the source, or start the transfer with "confirm": true.`,
  )
}
