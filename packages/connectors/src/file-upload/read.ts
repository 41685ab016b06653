import {
  type Check,
  ConnectorError,
  checkSteps,
  type DiscoveredPage,
  type DiscoveryContext,
  type SourceContext,
  type SourceReader,
  type Uploads,
} from '@penstock/connector'
import { type FileStore, readFiles, readOptionsOf, type StoredFile } from '@penstock/connector/files'
import { discoverFileColumns } from '../discovery/columns.ts'
import { pageIn, windowOf } from '../discovery/pages.ts'
import { discoverSheets } from '../discovery/sheets.ts'

/** Reads the uploaded file that the settings name. */
export async function open(context: SourceContext): Promise<SourceReader> {
  const { settings, uploads } = context
  return readFiles(context, storeOf(uploads, String(settings.upload ?? '')), readOptionsOf(settings))
}

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

/** The columns of the uploaded file that the settings name. */
export async function discoverColumns(context: DiscoveryContext): Promise<DiscoveredPage> {
  const store = storeOf(context.uploads, String(context.settings.upload ?? ''))
  return discoverFileColumns(context, store, readOptionsOf(context.settings))
}

/** The sheets of the uploaded workbook that the settings name. */
export const discoverWorkbook = (context: DiscoveryContext): Promise<DiscoveredPage> =>
  discoverSheets(context, storeOf(context.uploads, String(context.settings.upload ?? '')))

/** A store of the one file. Its content never changes, so that its version is its identifier. */
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
