import type { OpenedWriter } from './sides.ts'

/**
 * Has a destination remove what was not confirmed, as far as possible. Never throws.
 * @param opened the writer of the transfer, if there is one
 * @param open opens another one
 */
export async function abandon(opened: OpenedWriter | undefined, open: () => Promise<OpenedWriter>): Promise<void> {
  try {
    // A writer that was stopped cannot connect any more, and one that met a defect may know of more than is stored.
    await opened?.writer.close?.()
    const { writer } = await open()
    await writer.abort?.()
    await writer.close?.()
  } catch {
    // Its destination does not answer, or does not let us in.
  }
}
