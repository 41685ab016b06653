import { ConnectorError, type SourceReader } from '@penstock/connector'
import type { RowMapping } from '../map-rows.ts'

/**
 * Reads the whole source, which would replace all data at the destination, and closes it.
 * @param options.replaced how many rows the last replacing transfer sent; `null` for the first one
 * @param options.shareMin the share of these that is enough: 0 to 1
 * @throws ConnectorError `confirmation_needed` if it has fewer valid rows, or none
 */
export async function guardReplace(
  reader: SourceReader,
  {
    mappingFor,
    onProgress,
    replaced,
    shareMin,
  }: {
    mappingFor: (columns: readonly string[]) => Promise<RowMapping>
    onProgress: () => void
    replaced: number | null
    shareMin: number
  },
): Promise<void> {
  let mapping: RowMapping | undefined
  let valid = 0
  try {
    for await (const chunk of reader.read()) {
      onProgress()
      mapping ??= await mappingFor(chunk.columns)
      const { errors, skipped } = await mapping.map(chunk)
      for (let i = 0; i < chunk.rows.length; i++) {
        if (!chunk.errors?.has(i) && !errors.has(i) && !skipped?.[i]) valid++
      }
    }
  } finally {
    await reader.close()
  }
  assertEnough(valid, replaced, shareMin)
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
