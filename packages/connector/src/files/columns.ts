import { ConnectorError } from '../connector-error.ts'
import type { Cell, Row } from '../rows.ts'
import { kindOfValues } from '../type-words.ts'
import { bounds, mebibytes, outOfBounds } from './bounds.ts'
import { type FileContent, isDuckdb } from './content.ts'
import type { OpenedFile } from './opened-file.ts'
import { noHeader, openFile, type ReadOptions } from './read.ts'
import type { FileStore, StoredFile } from './store.ts'

/** A column of files, for people to choose. */
export type FileColumn = {
  readonly name: string
  /** The type in the words of the format, or the kind of all read values; undefined if it is unknown. */
  readonly type: string | undefined
  /** Its first values. */
  readonly values: readonly Cell[]
}

/** Maximum stored bytes of the files that are read. */
const bytesMax = 64 << 20
/** Maximum files without columns that are opened. */
const filesMax = 20
/** Rows whose values are read, and their approximate unpacked bytes. */
const seen = { rows: 50, bytes: 64 << 10 }

/**
 * The columns of the files of a store, as `readFiles` would read them: the columns of the first file with columns. Reads at most
 * 64 MiB of at most 20 files. The caller limits the time.
 * @throws a `ConnectorError`: what `readFiles` throws, and `file_too_large` if the columns are not known by then
 */
export async function discoverableColumns(
  store: FileStore,
  options: ReadOptions,
  signal: AbortSignal,
): Promise<FileColumn[]> {
  const files = [...(await store.list())].sort((a, b) => (a.name < b.name ? -1 : 1))
  if (files.length === 0) throw new ConnectorError('object_not_found', 'There is no file to read.')
  const bounded = withBudget(store)
  let headless: { readonly file: StoredFile; readonly content: FileContent } | undefined
  for (const file of files.slice(0, filesMax)) {
    const chunkBytes = options.chunkBytes ?? seen.bytes
    const { content, openedFile } = await openFile(bounded, file, { ...options, chunkBytes }, signal, undefined)
    try {
      if (openedFile.columns.length > 0) return columnsOf(openedFile, await firstRows(openedFile))
      if (/CSV|Excel/.test(content)) headless ??= { file, content }
      // A JSON file without a whole object may have a first row that exceeds a limit. That is the error to report.
      else await firstRows(openedFile)
    } finally {
      await openedFile.close()
    }
  }
  if (headless) throw noHeader(headless)
  return []
}

/** The first rows that are not at error. */
async function firstRows(file: OpenedFile): Promise<Row[]> {
  const found: Row[] = []
  for await (const { rows, errors } of file.read()) {
    found.push(...rows.slice(0, seen.rows).filter((_, at) => !errors.has(at)))
    // Invalid rows do not help to find the types, and there may be many.
    break
  }
  return found
}

const columnsOf = ({ columns, typeNames }: OpenedFile, rows: readonly Row[]): FileColumn[] =>
  columns.map((name, at) => {
    const values = rows.map((row) => row[at] ?? null).filter((cell) => cell !== null)
    return { name, type: typeNames?.[at] ?? kindOfValues(values), values }
  })

/** The same store, limited to `bytesMax` read bytes. */
function withBudget(store: FileStore): FileStore {
  let left = bytesMax
  return {
    list: () => store.list(),
    async *read(file, fromByte) {
      for await (const bytes of store.read(file, fromByte)) {
        // Its columns are known when all of it is read.
        if (fromByte === 0 && left === bytesMax && isDuckdb(bytes)) left = bounds.duckdb.fileBytes
        left -= bytes.length
        if (left < 0) {
          const says = `has no column names in its first ${mebibytes(bytesMax)}`
          throw outOfBounds('file_too_large', file.name, says, 'Enter the column names in the settings.')
        }
        yield bytes
      }
    },
  }
}
