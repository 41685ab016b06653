import { ConnectorError } from '@penstock/connector'
import type { RowMapping } from '../map-rows.ts'
import type { TransferJob, TransferState } from '../protocol.ts'
import type { Sides } from './sides.ts'
import type { Stages } from './stages/stages.ts'

/**
 * Reads the whole source, which would replace all data at the destination, before anything is removed there. Counts its valid
 * rows, and lets the stages judge it.
 * @throws ConnectorError `confirmation_needed` if it has no valid rows, or a smaller share of the rows of the last replacement
 * than required; `rule_broken`
 */
export async function guardReplacement(
  sides: Sides,
  { confirmed, replay, replaced }: TransferState,
  {
    job,
    onProgress,
    signal,
  }: { readonly job: TransferJob; readonly onProgress: () => void; readonly signal: AbortSignal },
  stages: Stages,
): Promise<void> {
  const { judges } = stages
  if (replay || (confirmed && judges.length === 0)) return
  const reader = await sides.openReader(signal)
  let mapping: RowMapping | undefined
  let valid = 0
  let first = 1
  try {
    for await (const source of reader.read()) {
      onProgress()
      mapping ??= await sides.mappingFor(source.columns)
      const { errors, skipped } = await stages.pass({ source, mapping }, first)
      first += source.rows.length
      const isInvalid = (at: number) => source.errors?.has(at) || (errors.has(at) && !skipped?.[at])
      const isSkipped = (at: number) => !source.errors?.has(at) && skipped !== undefined && skipped[at] !== 0
      let invalid = 0
      for (let at = 0; at < source.rows.length; at++) {
        if (isInvalid(at)) invalid++
        else if (!isSkipped(at)) valid++
      }
      for (const judge of judges) judge.add(source, invalid, isSkipped)
    }
  } finally {
    await reader.close()
  }
  if (!confirmed) assertEnough(valid, replaced, job.replaceShareMin)
  for (const judge of judges) await judge.end()
}

/**
 * Compares the valid rows of a replacement with the rows of the last one.
 * @throws ConnectorError `confirmation_needed` if there are too few valid rows, or no valid rows
 */
export function assertEnough(valid: number, replaced: number | null, shareMin: number): void {
  if (valid >= Math.max(1, Math.ceil((replaced ?? 0) * shareMin))) return
  throw new ConnectorError(
    'confirmation_needed',
    `This would replace everything that is there by ${valid} records${replaced ? `; the last time there were ${replaced}` : ''}. Nothing was changed: check the source, or start the transfer with "confirm": true.`,
  )
}
