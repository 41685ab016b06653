import {
  type Check,
  ConnectorError,
  checkSteps,
  type DiscoveredPage,
  type DiscoveryContext,
  type Uploads,
} from '@penstock/connector'
import type { FileStore, StoredFile } from '@penstock/connector/files'
import { pageIn, windowOf } from '../discovery/pages.ts'
import { fileReading } from '../object-stores/file-store.ts'

export const { open, discoverColumns, discoverWorkbook } = fileReading(({ uploads, settings }) =>
  storeOf(uploads, String(settings.upload ?? '')),
)

/** Whether uploads can be read at all, which needs only this service. */
export const check: Check = checkSteps([
  'uploads',
  async ({ uploads }) => {
    const [one] = await uploads.find('', { size: 1, offset: 0 })
    return one ? `The newest uploaded file is ${one.name}.` : 'No file is uploaded yet. Upload one to read it.'
  },
])

/** Uploaded files, newest first. */
export async function discoverUploads(context: DiscoveryContext): Promise<DiscoveredPage> {
  const window = windowOf(context)
  const found = await context.uploads.find(context.search, { size: window.limit, offset: window.offset })
  return pageIn(
    found.map(({ id, name }) => ({ value: id, label: name, kind: 'file' })),
    window,
  )
}

/** A store with only this file. Its content never changes, so its identifier is its version. */
function storeOf(uploads: Uploads, id: string): FileStore {
  let chunkBytes = 1
  return {
    async list() {
      const file = await uploads.open(id)
      if (!file) throw gone()
      chunkBytes = file.chunkBytes
      return [{ name: file.name, sizeBytes: file.sizeBytes, version: id }]
    },
    async *read({ sizeBytes }: StoredFile, fromByte) {
      for (let number = Math.floor(fromByte / chunkBytes); number * chunkBytes < sizeBytes; number++) {
        const bytes = await uploads.read(id, number)
        if (!bytes) throw gone()
        const skip = fromByte - number * chunkBytes
        yield skip > 0 ? bytes.subarray(skip) : bytes
      }
    },
  }
}

const gone = () =>
  new ConnectorError(
    'object_not_found',
    'The uploaded file is not kept any more: files are deleted some hours after their upload. Upload the file again and choose it in the connection, or read it from a store of files.',
  )
