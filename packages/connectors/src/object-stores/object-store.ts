import { asConnectorError, ConnectorError } from '@penstock/connector'
import type { FileFormat, FileStore, StoredFile } from '@penstock/connector/files'
import { type ListingPage, listingBounds } from './listing.ts'

/**
 * The operations for reading that Amazon S3, Google Cloud Storage and Azure Blob Storage share. The stores have no
 * folders, only names with slashes. All operations throw `ConnectorError`s.
 */
export type ObjectStore = {
  /** What the empty path means, for messages. By default the top of the bucket. */
  readonly top?: string
  /** The objects whose names begin so and have no slash behind that, in any order. */
  list(prefix: string): AsyncIterable<StoredFile>
  /**
   * One page of the same, with the folders.
   * @param entriesMax how many entries are requested; by default the maximum of the store
   */
  page(prefix: string, token?: string, entriesMax?: number): Promise<ListingPage>
  /** One object, without listing. `undefined` if it does not exist. */
  find(name: string): Promise<StoredFile | undefined>
  /**
   * The bytes of an object from an offset on. Throws `source_changed` if the object has another version by now.
   */
  get(file: StoredFile, fromByte: number): Promise<Response>
}

/** A request that breaks off sooner brought too little to be made again and again. */
const progressBytes = 64 << 10
/** Requests of that kind, one after the other, after which reading fails. */
const breaksMax = 5

/** The files of a store that a path means, ready to be read. */
export function fileStoreOf(store: ObjectStore, path: string, format: FileFormat): FileStore {
  return {
    list: () => findFiles(store, path, format),
    read: (file, fromByte) => readOn(store, file, fromByte),
  }
}

/**
 * The files of a path: the object of this name, or else the files directly in the folder of this name, or else the files whose
 * names begin with it. A path that ends with a slash, and an empty path, can only be a folder. Throws `object_not_found` if
 * there are no files.
 */
export async function findFiles(store: ObjectStore, path: string, format: FileFormat): Promise<StoredFile[]> {
  const isFolder = path === '' || path.endsWith('/')
  if (isFolder) return orNone(store, await filesIn(store, path, format), path)
  let begins: StoredFile[]
  try {
    begins = await collect(store.list(path))
  } catch (error) {
    // Some credentials allow reading but not listing. They can still read one object.
    const file =
      asConnectorError(error)?.code === 'permission_denied' ? await store.find(path).catch(() => undefined) : undefined
    if (!file) throw error
    return [file]
  }
  const exact = begins.find(({ name }) => name === path)
  if (exact) return [exact]
  const inFolder = await filesIn(store, `${path}/`, format)
  return orNone(store, inFolder.length > 0 ? inFolder : begins.filter(({ name }) => isDataFile(name, format)), path)
}

async function filesIn(store: ObjectStore, prefix: string, format: FileFormat): Promise<StoredFile[]> {
  return (await collect(store.list(prefix))).filter(({ name }) => isDataFile(name, format))
}

function orNone({ top = 'the top of the bucket' }: ObjectStore, files: StoredFile[], path: string): StoredFile[] {
  if (files.length > 0) return files
  const message = `There is no file to read at ${path === '' ? top : path}. Check the path, and that the file's name ends with .csv, .ndjson, .xlsx or .parquet (and .gz, .zst or .bz2), or choose the format.`
  throw new ConnectorError('object_not_found', message)
}

async function collect(files: AsyncIterable<StoredFile>): Promise<StoredFile[]> {
  const found: StoredFile[] = []
  for await (const file of files) {
    found.push(file)
    if (found.length > listingBounds.files) {
      const message = `The path means more than ${listingBounds.files} files; name a narrower one.`
      throw new ConnectorError('too_many_files', message)
    }
  }
  return found
}

/** Extensions of files that hold rows. */
const dataFile = /\.(csv|tsv|txt|ndjson|jsonl|json|parquet|parq|pq|xlsx|xlsm|avro)(\.(gz|zst|zstd|bz2))?$/i

/**
 * Whether a file in a folder is read. Files whose names begin with `_` or `.` are notes that programs leave for each
 * other. If a format is chosen, other files are read whatever their extension.
 */
function isDataFile(name: string, format: FileFormat): boolean {
  const last = name.slice(name.lastIndexOf('/') + 1)
  if (last === '' || /^[._]/.test(last)) return false
  return format !== 'auto' || dataFile.test(last)
}

/**
 * The bytes of a file to its end. Stores close a connection while a slow reader lets it wait. The bytes read so far are kept,
 * and reading continues in another request. A request that returned nothing throws, and so does the last of several that
 * returned only little.
 */
async function* readOn(store: ObjectStore, file: StoredFile, fromByte: number): AsyncGenerator<Uint8Array> {
  let breaks = 0
  for (let at = fromByte; at < file.sizeBytes; ) {
    const before = at
    try {
      const { body } = await store.get(file, at)
      for await (const bytes of body ?? []) {
        at += bytes.length
        if (at > file.sizeBytes) throw sourceChanged(file.name)
        yield bytes
      }
      if (at < file.sizeBytes) throw new ConnectorError('connection_lost', `Reading ${file.name} was interrupted.`)
    } catch (error) {
      breaks = at - before < progressBytes ? breaks + 1 : 0
      if (at === before || breaks > breaksMax || !asConnectorError(error)?.isTransient) throw error
    }
  }
}

/** The file was listed, and is gone or another one now. */
export const sourceChanged = (name: string): ConnectorError =>
  new ConnectorError(
    'source_changed',
    `${name} is gone or was replaced while it was being read. Start a new transfer, which reads it from the beginning.`,
  )

/** A part of an object was requested, and the store sent all of it. */
export const rangeIgnored = (store: string): ConnectorError =>
  new ConnectorError('unexpected_response', `${store} cannot read an object from an offset.`)

/** Whether a response begins at the requested offset. */
export const beginsAt = (response: Response, fromByte: number): boolean =>
  response.status === 206
    ? (response.headers.get('content-range') ?? '').startsWith(`bytes ${fromByte}-`)
    : fromByte === 0
