import { createDuckDB, type DuckDBConnection, VoidLogger } from '@duckdb/duckdb-wasm/blocking'
import type { RecordBatch } from 'apache-arrow'
import { MemoryFile, memoryRuntime } from './memory-files.ts'
import { moduleFile } from './module-file.ts'
import { asNotLoaded } from './not-loaded.ts'

/**
 * DuckDB as WebAssembly. A file can only affect the memory of the module: it has no system calls, and no files except the files
 * of `memoryRuntime`.
 */

/** The memory that DuckDB can use for blocks of a database, in MiB. */
const memoryMb = 192
const folder = 'penstock/'

/** Reading a table does not need these, and a database could use them, for example in a generated column. */
const settings = [
  'autoinstall_known_extensions = false',
  'autoload_known_extensions = false',
  `memory_limit = '${memoryMb}MiB'`,
  `allowed_directories = ['${folder}']`,
  'enable_external_access = false',
  'lock_configuration = true',
]

/** A database in DuckDB. All methods throw the errors of DuckDB, whose texts can contain values. */
export type DuckdbDatabase = {
  /** Its name in statements. */
  readonly name: string
  /** Runs a statement, and yields its rows on demand. */
  query(statement: string): AsyncGenerator<RecordBatch>
  /** Closes the database. Resolves with its file. */
  close(): Promise<Buffer>
}

const files = new Map<string, MemoryFile>()
const runtime = memoryRuntime(files)
let started: Promise<DuckDBConnection> | undefined
let databases = 0

/**
 * Opens the file of a database. The first call in a process needs 0.7 seconds.
 * @param bytes the file, which can only be read; `undefined` creates a new file
 * @param sizeMax maximum size of a new file, in bytes
 * @throws the errors of DuckDB, or CodeNotLoaded if its module cannot be read
 */
export async function openDatabase(bytes: Buffer | undefined, sizeMax = 0): Promise<DuckdbDatabase> {
  const connection = await running()
  databases += 1
  const name = `penstock_${databases}`
  const path = `${folder}${name}.duckdb`
  const file = new MemoryFile(bytes ?? Buffer.alloc(0), sizeMax)
  files.set(path, file)
  const database: DuckdbDatabase = {
    name,
    async *query(statement) {
      try {
        const reader = await connection.send(statement, true)
        for (const batch of reader) yield batch
      } catch (error) {
        // Some errors end DuckDB or its module, so the next database gets a new module.
        started = undefined
        throw error
      } finally {
        connection.cancelSent()
      }
    },
    async close() {
      try {
        await drain(database.query(`DETACH ${name}`))
      } finally {
        files.delete(path)
      }
      return file.bytes
    },
  }
  try {
    await drain(database.query(`ATTACH '${path}' AS ${name}${bytes ? ' (READ_ONLY)' : ''}`))
  } catch (error) {
    files.delete(path)
    throw error
  }
  return database
}

/** Runs a statement to its end. */
async function drain(batches: AsyncIterable<RecordBatch>): Promise<void> {
  for await (const _ of batches);
}

/** An identifier in a statement. */
export const quoted = (name: string): string => `"${name.replaceAll('"', '""')}"`

/** A text in a statement. */
export const literal = (text: string): string => `'${text.replaceAll("'", "''")}'`

async function running(): Promise<DuckDBConnection> {
  started ??= start()
  try {
    return await started
  } catch (error) {
    started = undefined
    throw asNotLoaded(error)
  }
}

async function start(): Promise<DuckDBConnection> {
  // Node has the exceptions of WebAssembly, so the first of these is never loaded.
  const bundle = { mainModule: moduleFile(), mainWorker: '' }
  const bindings = await createDuckDB({ mvp: bundle, eh: bundle }, new VoidLogger(), runtime)
  await bindings.instantiate(() => {})
  bindings.open({ path: ':memory:', maximumThreads: 1 })
  const connection = bindings.connect()
  for (const setting of settings) connection.query(`SET ${setting}`)
  return connection
}
