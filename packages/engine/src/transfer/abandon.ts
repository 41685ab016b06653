import type { OpenedWriter } from './sides.ts'

/**
 * Asks a destination to remove unconfirmed data, as far as possible. Never throws.
 * @param opened the writer of the transfer, if there is one
 * @param open opens another writer
 */
export async function abandon(opened: OpenedWriter | undefined, open: () => Promise<OpenedWriter>): Promise<void> {
  try {
    // A stopped writer can no longer connect, and a writer that failed with a defect may know of more than is stored.
    await opened?.writer.close?.()
    const { writer } = await open()
    await writer.abort?.()
    await writer.close?.()
  } catch {
    // Its destination does not answer, or does not let us in.
  }
}
