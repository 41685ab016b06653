import { asConnectorError, type Chunk, type Destination, type Values } from '@penstock/connector'
import type { MappedChunk } from './transfer/filled-batch.ts'
import { DuplicateKeys } from './transfer/stages/duplicates/duplicate-keys.ts'
import { duplicateSettings, leavesOutDuplicates } from './transfer/stages/duplicates/duplicate-settings.ts'
import { Duplicates } from './transfer/stages/duplicates/duplicates.ts'

const bytesMax = 64 << 20

/** The records of a preview with their duplicates left out, and the sentence with which a transfer would fail if the settings are wrong. */
export type WithoutDuplicates = { readonly mapped: MappedChunk; readonly wrong?: string }

/**
 * Leaves out duplicates among the records of a preview.
 * @param chunk all of its records
 * @param columns that the destination gets
 */
export async function withoutDuplicates(
  deliver: Destination | undefined,
  settings: Values,
  chunk: Chunk,
  mapped: MappedChunk,
  columns: readonly string[],
): Promise<WithoutDuplicates> {
  if (!leavesOutDuplicates(settings)) return { mapped }
  try {
    const found = duplicateSettings(settings, deliver?.windowKeys?.(settings))
    if (!found) return { mapped }
    const duplicates = new Duplicates({
      settings: found,
      keys: new DuplicateKeys(bytesMax),
      transferId: 'preview',
      checkpoint: null,
      read: 0,
      testRows: null,
      removesBy: deliver?.removesBy?.(settings),
    })
    await duplicates.prepare(
      async () => ({
        async *read() {
          yield chunk
        },
        close: async () => {},
      }),
      async () => ({ mapping: { columns }, mapped }),
    )
    return { mapped: duplicates.mark(chunk, mapped, columns, 1) }
  } catch (error) {
    const wrong = asConnectorError(error)?.message
    if (wrong === undefined) throw error
    return { mapped, wrong }
  }
}
