import { asConnectorError } from '@penstock/connector'
import type { FileFormat } from '@penstock/connector/files'
import { discard } from './answers.ts'
import { findFiles, type ObjectStore } from './object-store.ts'

/** Lists the files of a path and reads the beginning of the first one. Returns what was found. Throws a `ConnectorError`. */
export async function checkReading(store: ObjectStore, path: string, format: FileFormat): Promise<string> {
  try {
    const files = await findFiles(store, path, format)
    const first = files.find(({ sizeBytes }) => sizeBytes > 0)
    if (first) await discard(await store.get(first, 0))
    return files.length === 1 ? 'One file exists and can be read.' : `${files.length} files exist and can be read.`
  } catch (error) {
    // The files can arrive later. The check only requires that the place can be listed.
    if (asConnectorError(error)?.code === 'object_not_found') return 'The place can be listed; there is no file yet.'
    throw error
  }
}
