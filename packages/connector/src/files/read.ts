import { createHash } from 'node:crypto'
import { asConnectorError, ConnectorError } from '../connector-error.ts'
import type { Json, Row } from '../rows.ts'
import type { SourceContext, SourceReader } from '../source.ts'
import { contentOf, type FileContent } from './content.ts'
import { openCsv } from './csv-read.ts'
import { divideFiles, filesOfPart, isFirstPart } from './divide.ts'
import { loadDuckdbReader } from './duckdb/load.ts'
import type { ExcelOptions } from './excel-read.ts'
import type { FileFormat } from './format.ts'
import { openJson } from './ndjson-read.ts'
import { type FileStep, NewFiles, type NewFilesCheckpoint } from './new-files.ts'
import { openBytes } from './open-bytes.ts'
import type { OpenedFile } from './opened-file.ts'
import { changed, countPlanned, type FilePlace, filesLeft, plannedAmong, planOf } from './planned-files.ts'
import type { FileStore, StoredFile } from './store.ts'

export type ReadOptions = {
  readonly format: FileFormat
  /** One of `encodings`, an alias of one, or `auto`. */
  readonly encoding?: string
  /** `comma`, `semicolon`, `tab`, `pipe`, the character itself, or `auto`. */
  readonly delimiter?: string
  /** Which rows of Excel workbooks are read. */
  readonly excel?: ExcelOptions
  /** Number of lines of CSV files before their header, or before their first row if they have no header; 0 by default. */
  readonly skipLines?: number
  /** Names of the columns of CSV files without a header. */
  readonly columns?: readonly string[]
  /** Whether rows of CSV files can omit their last cells, which are then null. */
  readonly shortRows?: boolean
  /** Whether each line is the cell of a single column. A quote is then a character, unless the line begins with a quote. */
  readonly lines?: boolean
  /** Whether several workers can each read some of the files. */
  readonly divides?: boolean
  /** Whether only new and changed files are read. A sample reads all files. */
  readonly onlyNew?: boolean
  /** Approximate unpacked bytes of a chunk; 120 KiB by default, 1 MiB for Parquet. */
  readonly chunkBytes?: number
}

/** Where reading resumes: a place in a file, and the columns so far, to notice when they change. */
type Checkpoint = FilePlace & {
  readonly columns: string
  readonly rows: number
  readonly place: Json
  /** Records of the file before the place; absent in checkpoints of earlier versions. */
  readonly records?: number
}

/**
 * Reads all files of a store as one, in the order of their names. All files must have the columns of the first one, in any
 * order. Closes the store with the reader, and if it throws.
 */
export async function readFiles(context: SourceContext, store: FileStore, options: ReadOptions): Promise<SourceReader> {
  const { signal } = context
  const opened = new Set<OpenedFile>()
  const releaseAll = async () => {
    for (const file of opened) await file.close()
    opened.clear()
  }
  const close = async () => {
    await releaseAll()
    await store.close?.().catch(() => {})
  }
  /** The first CSV file or workbook without a header. */
  let headless: { readonly file: StoredFile; readonly content: FileContent } | undefined
  const open = async (file: StoredFile, columns?: readonly string[]): Promise<OpenedFile> => {
    const { content, openedFile } = await openFile(store, file, options, signal, columns)
    if (/CSV|Excel/.test(content) && openedFile.columns.length === 0) headless ??= { file, content }
    opened.add(openedFile)
    return openedFile
  }
  const release = async (file: OpenedFile) => {
    opened.delete(file)
    await file.close()
  }
  /** The first file with columns, which determines the columns of all files; undefined if no file has columns. */
  const openFirst = async (files: readonly StoredFile[]) => {
    for (const file of files) {
      const openedFile = await open(file)
      if (openedFile.columns.length > 0) return { file, openedFile }
      await release(openedFile)
    }
    if (headless) throw noHeader(headless)
    return undefined
  }
  try {
    const { part } = context
    const news = options.onlyNew && !context.sample ? new NewFiles(context, store) : undefined
    const files = part ? filesOfPart(part.key) : plannedAmong(store, await listedFiles(store, news), context.plan)
    const plan = part ? undefined : (context.plan ?? planOf(store, files))
    const [first] = files
    if (!first && !news?.hasState) throw new ConnectorError('object_not_found', 'There is no file to read.')
    const columnsOfAll = async () => {
      try {
        return (await openFirst(files))?.openedFile.columns ?? []
      } finally {
        await releaseAll()
      }
    }
    async function* piecesOf(
      left: readonly StoredFile[],
      firstIndex: number,
      from: Checkpoint | undefined,
    ): AsyncGenerator<FileStep> {
      try {
        const found = part ? undefined : await openFirst(files)
        const columns = part?.columns ?? found?.openedFile.columns ?? []
        const digest = digestOf(columns)
        if (from && from.columns !== digest) throw changed(from.file)
        if (found && left[0] !== found.file) await release(found.openedFile)
        let rowsBefore = from?.rows ?? 0
        for (const [at, file] of left.entries()) {
          const place = file.name === from?.file ? from.place : undefined
          const opensFirst = found && file === found.file && opened.has(found.openedFile)
          const current = opensFirst ? found.openedFile : await open(file, columns)
          const arrange = arrangement(file, current.columns, columns)
          const types = arrange ? arrangedTypes(current, columns) : current.types
          let storedBytes = place === undefined ? 0 : storedBytesOf(place)
          let records = place === undefined ? 0 : from?.records
          for await (const piece of current.read(place)) {
            rowsBefore += piece.rows.length
            const places = piece.places ?? (records !== undefined && { unit: 'record', numbers: [0, records + 1] })
            if (records !== undefined) records += piece.rows.length
            const checkpoint: Checkpoint = {
              file: file.name,
              index: firstIndex + at,
              version: file.version,
              columns: digest,
              rows: rowsBefore,
              place: piece.place,
              ...(records !== undefined && { records }),
            }
            yield {
              chunk: {
                columns,
                ...(types ? { types } : {}),
                rows: arrange ? piece.rows.map(arrange) : piece.rows,
                ...(piece.errors.size > 0 ? { errors: piece.errors } : {}),
                ...(places && { places: { file: file.name, ...places } }),
                bytes: Math.max(0, piece.storedBytes - storedBytes),
                checkpoint,
              },
            }
            storedBytes = piece.storedBytes
          }
          await release(current)
          yield { ended: file }
        }
      } finally {
        await releaseAll()
      }
    }
    return {
      total: { bytes: files.reduce((sum, { sizeBytes }) => sum + sizeBytes, 0) },
      fixed: files.every(({ version }) => version !== ''),
      ...(plan !== undefined && { plan }),
      async *read(after) {
        const from = after === undefined ? undefined : (after as Checkpoint & NewFilesCheckpoint)
        const { left, first } = filesLeft(
          files,
          context.plan === undefined ? undefined : countPlanned(context.plan),
          from,
        )
        if (news) {
          if (left.length === 0) return
          return yield* news.withCursors(piecesOf(left, first, from), left.length, from, isFirstPart(part?.key))
        }
        for await (const piece of piecesOf(left, first, from)) if ('chunk' in piece) yield piece.chunk
      },
      ...(options.divides && {
        divide: async (bounds) => divideFiles(files, bounds, columnsOfAll, news !== undefined),
      }),
      close,
    }
  } catch (error) {
    await close()
    throw error
  }
}

/** The files of a store in the order of their names: all, or the new ones. */
async function listedFiles(store: FileStore, news: NewFiles | undefined): Promise<readonly StoredFile[]> {
  const listed = await store.list().catch((error: unknown) => {
    // Files can be moved once they are read.
    if (news?.hasState && asConnectorError(error)?.code === 'object_not_found') return []
    throw error
  })
  const files = [...listed].sort((a, b) => (a.name < b.name ? -1 : 1))
  return news ? news.among(files) : files
}

/** Opens one file by its content. Throws a `ConnectorError`. @param columns the columns of an earlier file of the same read */
export async function openFile(
  store: FileStore,
  file: StoredFile,
  options: ReadOptions,
  signal: AbortSignal,
  columns: readonly string[] | undefined,
): Promise<{ content: FileContent; openedFile: OpenedFile }> {
  const stream = await openBytes(store, file, signal)
  try {
    const content = options.lines ? 'CSV' : await contentOf(stream, file, options)
    switch (content) {
      case 'CSV':
        return { content, openedFile: await openCsv(stream, store, file, csvOptions(options), signal) }
      case 'Parquet': {
        await stream.close()
        // Loaded on demand, because most transfers do not need the library.
        const { openParquetFile } = await import('./parquet-read.ts')
        return { content, openedFile: await openParquetFile(store, file, options, signal) }
      }
      case 'Avro': {
        const { openAvro } = await import('./avro-read.ts')
        return { content, openedFile: await openAvro(stream, store, file, options, signal) }
      }
      case 'Excel': {
        await stream.close()
        const { openExcel } = await import('./excel-read.ts')
        return { content, openedFile: await openExcel(store, file, options.excel ?? {}, signal) }
      }
      case 'DuckDB': {
        const { openDuckdb } = await loadDuckdbReader()
        return { content, openedFile: await openDuckdb(stream, file, options.excel?.sheet, signal) }
      }
      default:
        return { content, openedFile: await openJson(stream, content, store, file, options, signal, columns) }
    }
  } catch (error) {
    await stream.close()
    throw error
  }
}

/** Text does not have the delimiter of lines that are one cell. */
const csvOptions = (options: ReadOptions): ReadOptions =>
  options.lines ? { ...options, delimiter: '\u0001' } : options

const storedBytesOf = (place: Json): number => (place as { storedBytes: number }).storedBytes

/** Reorders the cells of a row in the order of the columns; undefined if they are already in that order. */
function arrangement(
  file: StoredFile,
  own: readonly string[],
  columns: readonly string[],
): ((row: Row) => Row) | undefined {
  if (own.length === columns.length && own.every((name, index) => name === columns[index])) return undefined
  // An empty file has no columns, and no rows that need them.
  if (own.length === 0) return undefined
  const order = columns.map((name) => own.indexOf(name))
  if (own.length !== columns.length || order.includes(-1)) {
    const message = `${file.name} has other columns than the first file. All files of a connection must have the same columns.`
    throw new ConnectorError('invalid_file', message)
  }
  return (row) => order.map((index) => row[index] ?? null)
}

/** The types of a file in the order of the columns of the first one. */
const arrangedTypes = ({ columns: own, types }: OpenedFile, columns: readonly string[]) =>
  types && columns.map((name) => types[own.indexOf(name)] ?? null)

const digestOf = (columns: readonly string[]): string =>
  createHash('sha256').update(JSON.stringify(columns)).digest('hex').slice(0, 16)

/** No file has columns, and this is the first that should. */
export const noHeader = ({ file, content }: { readonly file: StoredFile; readonly content: FileContent }) => {
  const advice =
    content === 'CSV'
      ? 'A CSV file begins with a line of column names.'
      : 'A sheet begins with a row of column names. Choose another sheet or header row.'
  return new ConnectorError('invalid_file', `${file.name} is empty. ${advice}`)
}
