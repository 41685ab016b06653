import { asConnectorError } from '@penstock/connector'
import type { FileFormat } from '@penstock/connector/files'
import { discard } from './answers.ts'
import { findFiles, type ObjectStore } from './object-store.ts'

/** Lists what a path means and reads the beginning of its first file. Answers what was found; throws a `ConnectorError`. */
export async function checkReading(store: ObjectStore, path: string, format: FileFormat): Promise<string> {
  try {
    const files = await findFiles(store, path, format)
    const first = files.find(({ sizeBytes }) => sizeBytes > 0)
    if (first) await discard(await store.get(first, 0))
    return files.length === 1 ? 'One file exists and can be read.' : `${files.length} files exist and can be read.`
  } catch (error) {
    // The files may come later; that the place can be listed is what was asked.
    if (asConnectorError(error)?.code === 'object_not_found') return 'The place can be listed; there is no file yet.'
    throw error
  }
}
