import type { RecordBatch } from 'apache-arrow'
import { ConnectorError } from '../connector-error.ts'
import type { Row } from '../rows.ts'
import { boundColumns, bounds, isTooLong, mebibytes, outOfBounds, rowErrors, tooManyColumns } from './bounds.ts'
import { type ByteStream, rest } from './bytes.ts'
import { distinctNames } from './column-names.ts'
import { type DuckdbDatabase, literal, openDatabase, quoted } from './duckdb/engine.ts'
import { CodeNotLoaded } from './duckdb/not-loaded.ts'
import { type ArrowValue, cellOf, columnTypeOf, type DuckdbType, NoCell, parseType, textType } from './duckdb/types.ts'
import type { FilePiece, OpenedFile } from './opened-file.ts'
import type { StoredFile } from './store.ts'

/** A place in a table: how many of its rows were read. */
type Place = { readonly row: number; readonly storedBytes: number }

type Table = { readonly schema: string; readonly name: string; readonly rows: number }

/** The newest version of the format that is read, of DuckDB 1.5. */
const versionMax = 68

/**
 * Opens a table of a DuckDB database. The whole file must be in memory, because its blocks can be anywhere.
 * @param opened the bytes of the file, from its beginning, which are consumed and closed
 * @param wanted name of the table, with or without its schema; not needed if there is only one
 * @throws a `ConnectorError` if the database is damaged, of a newer version or too large, or has no such table; so does `read`
 */
export async function openDuckdb(
  opened: ByteStream,
  file: StoredFile,
  wanted: string | undefined,
  signal: AbortSignal,
): Promise<OpenedFile> {
  const database = await openFile(opened, file)
  const close = () =>
    database.close().then(
      () => {},
      () => {},
    )
  try {
    const table = chooseTable(file, await tablesOf(file, database), wanted)
    const columns = await columnsOf(file, database, table)
    const types = columns.map(({ type }) => type)
    const select = columns.map(({ name, type }) => `CAST(${quoted(name)} AS ${textType(type)})`)
    const from = [database.name, table.schema, table.name].map(quoted).join('.')
    return {
      columns: distinctNames(
        boundColumns(
          file.name,
          columns.map(({ name }) => name),
        ),
      ),
      types: types.map(columnTypeOf),
      typeNames: columns.map(({ typeName }) => typeName),
      async *read(after) {
        let { row } = (after as Place | undefined) ?? { row: 0 }
        // Without threads, rows come in the order in which they are stored.
        const statement = `SELECT ${select.join(', ')} FROM ${from} OFFSET ${row}`
        for await (const batch of named(file, database.query(statement))) {
          for (const piece of piecesOf(batch, types)) {
            signal.throwIfAborted()
            row += piece.rows.length
            if (row > rowsMax(file)) throw tooManyRows(file)
            const storedBytes = Math.floor(file.sizeBytes * Math.min(1, row / table.rows))
            yield { ...piece, place: { row, storedBytes } satisfies Place, storedBytes }
          }
        }
      },
      close,
    }
  } catch (error) {
    await close()
    throw error
  }
}

/**
 * The tables of a DuckDB database, in the order of their names, with their schema if that is not `main`.
 * @param opened the bytes of the file, from its beginning, which are taken and closed
 * @throws as `openDuckdb` does
 */
export async function duckdbTables(opened: ByteStream, file: StoredFile): Promise<string[]> {
  const database = await openFile(opened, file)
  try {
    return (await tablesOf(file, database)).map(titleOf)
  } finally {
    await database.close().catch(() => {})
  }
}

const titleOf = ({ schema, name }: Table): string => (schema === 'main' ? name : `${schema}.${name}`)

async function openFile(opened: ByteStream, file: StoredFile): Promise<DuckdbDatabase> {
  const { fileBytes } = bounds.duckdb
  const tooLarge = () => {
    const advice = 'Write the table as Parquet, with COPY in DuckDB.'
    return outOfBounds('file_too_large', file.name, `has more than ${mebibytes(fileBytes)}`, advice)
  }
  const parts: Buffer[] = []
  let size = 0
  let whole: Buffer
  try {
    assertReadable(file, await opened.peek(headerBytes))
    if (file.sizeBytes > fileBytes) throw tooLarge()
    // In one piece if its size is known, so that it is in memory once.
    whole = Buffer.allocUnsafeSlow(opened.packed ? 0 : file.sizeBytes)
    for await (const bytes of rest(opened)) {
      if (size + bytes.length > fileBytes) throw tooLarge()
      if (parts.length === 0 && size + bytes.length > whole.length) parts.push(whole.subarray(0, size))
      if (parts.length === 0) bytes.copy(whole, size)
      else parts.push(Buffer.from(bytes))
      size += bytes.length
    }
  } finally {
    await opened.close()
  }
  const bytes = parts.length === 0 ? whole.subarray(0, size) : Buffer.concat(parts, size)
  try {
    return await openDatabase(bytes)
  } catch (error) {
    throw asDamage(file, error)
  }
}

/** Bytes of a file that contain its version. */
const headerBytes = 64
/** In the flags of the header. */
const isEncrypted = 1n

function assertReadable({ name }: StoredFile, header: Buffer): void {
  if (header.length < headerBytes) throw damaged(name)
  if (header.readBigUInt64LE(12) > versionMax) {
    const message = `${name} has the format of DuckDB 2.0 or later, which is not supported yet. Write it with ATTACH '…' (STORAGE_VERSION 'v1.5.0'), or write the table as Parquet.`
    throw new ConnectorError('invalid_file', message)
  }
  if (header.readBigUInt64LE(20) & isEncrypted) {
    throw new ConnectorError('invalid_file', `${name} is an encrypted DuckDB database. Write it without encryption.`)
  }
}

async function tablesOf(file: StoredFile, { name, query }: DuckdbDatabase): Promise<Table[]> {
  const tables: Table[] = []
  const statement = `SELECT schema_name, table_name, estimated_size::VARCHAR FROM duckdb_tables() WHERE database_name = ${literal(name)} AND NOT internal ORDER BY ALL`
  for await (const batch of named(file, query(statement))) {
    for (const [schema = '', table = '', rows] of rowsOf(batch)) {
      if (tables.length === bounds.duckdb.tables) {
        throw outOfBounds(
          'invalid_file',
          file.name,
          `has more than ${bounds.duckdb.tables} tables`,
          'Remove some tables.',
        )
      }
      tables.push({ schema: String(schema), name: String(table), rows: Number(rows) })
    }
  }
  return tables
}

function chooseTable({ name: file }: StoredFile, tables: readonly Table[], wanted = ''): Table {
  if (wanted === '') {
    const [first, ...others] = tables
    if (first && others.length === 0) return first
    if (!first)
      throw new ConnectorError('invalid_file', `${file} has no table. Create a table from a view: views are not read.`)
    const names = tables.slice(0, 5).map((table) => titleOf(table).slice(0, 100))
    const more = tables.length > names.length ? ' and others' : ''
    const message = `${file} has ${tables.length} tables: ${names.join(', ')}${more}. Choose one.`
    throw new ConnectorError('invalid_setting', message)
  }
  const same = (one: string, other: string) => one.toLowerCase() === other.toLowerCase()
  const found =
    tables.find((table) => titleOf(table) === wanted) ??
    tables.find((table) => same(titleOf(table), wanted) || same(`${table.schema}.${table.name}`, wanted))
  if (found) return found
  const message = `${file} has no table called ${wanted.slice(0, 100)}. Choose another table.`
  throw new ConnectorError('object_not_found', message)
}

/** Maximum characters of a type name: the name of an enum contains all its values. */
const typeNameChars = 100

async function columnsOf(
  file: StoredFile,
  { name, query }: DuckdbDatabase,
  table: Table,
): Promise<{ readonly name: string; readonly type: DuckdbType; readonly typeName: string }[]> {
  const columns: { name: string; type: DuckdbType; typeName: string }[] = []
  const statement = `SELECT column_name, data_type FROM duckdb_columns() WHERE database_name = ${literal(name)} AND schema_name = ${literal(table.schema)} AND table_name = ${literal(table.name)} ORDER BY column_index LIMIT ${bounds.columns + 1}`
  for await (const batch of named(file, query(statement))) {
    for (const [column, type] of rowsOf(batch)) {
      const words = String(type)
      columns.push({ name: String(column), type: parseType(words), typeName: words.slice(0, typeNameChars) })
    }
  }
  if (columns.length > bounds.columns) throw tooManyColumns(file.name)
  if (table.rows > rowsMax(file)) throw tooManyRows(file)
  return columns
}

const rowsMax = ({ sizeBytes }: StoredFile): number => bounds.duckdb.rows.free + sizeBytes * bounds.duckdb.rows.perByte

function tooManyRows({ name }: StoredFile): ConnectorError {
  const { free, perByte } = bounds.duckdb.rows
  const says = `has a table of more than ${free} rows, and more than ${perByte} for each byte`
  return outOfBounds('file_too_large', name, says, 'Write the table as Parquet, in several files.')
}

function rowsOf(batch: RecordBatch): ArrowValue[][] {
  const columns = batch.data.children.map((_, at) => batch.getChildAt(at))
  return Array.from({ length: batch.numRows }, (_, row) => columns.map((column) => column?.get(row) ?? null))
}

/** The rows of a batch, in pieces of limited size. */
function* piecesOf(batch: RecordBatch, types: readonly DuckdbType[]): Generator<Pick<FilePiece, 'rows' | 'errors'>> {
  const columns = types.map((_, at) => batch.getChildAt(at))
  const rowsAtOnce = Math.max(1, Math.floor(bounds.pieceCells / Math.max(1, types.length)))
  let rows: Row[] = []
  let errors = new Map<number, string>()
  let chars = 0
  for (let at = 0; at < batch.numRows; at += 1) {
    const row = types.map((type, column) => {
      try {
        const cell = cellOf(type, columns[column]?.get(at) ?? null)
        if (typeof cell !== 'string') return cell
        if (isTooLong(cell)) throw new NoCell(rowErrors.cellTooLong)
        chars += cell.length
        return cell
      } catch (error) {
        if (!(error instanceof NoCell)) throw error
        errors.set(rows.length, error.message)
        return null
      }
    })
    rows.push(row)
    if (rows.length < rowsAtOnce && chars < bounds.pieceChars) continue
    yield { rows, errors }
    rows = []
    errors = new Map()
    chars = 0
  }
  if (rows.length > 0) yield { rows, errors }
}

/** The batches from DuckDB. Its errors, whose texts can contain values, become errors of the file. */
async function* named(file: StoredFile, batches: AsyncIterable<RecordBatch>): AsyncGenerator<RecordBatch> {
  try {
    yield* batches
  } catch (error) {
    throw asDamage(file, error)
  }
}

function asDamage({ name }: StoredFile, cause: unknown): ConnectorError | CodeNotLoaded {
  if (cause instanceof CodeNotLoaded) return cause
  if (cause instanceof Error && cause.message.startsWith('Out of Memory')) {
    const says = 'needs more memory than available to read a table'
    return outOfBounds('file_too_large', name, says, 'Write the table as Parquet, with COPY in DuckDB.')
  }
  return damaged(name, cause)
}

const damaged = (name: string, cause?: unknown) =>
  new ConnectorError('invalid_file', `${name} is a damaged DuckDB database. Run CHECKPOINT, then write it again.`, {
    cause,
  })
