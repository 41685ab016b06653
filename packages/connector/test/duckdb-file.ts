import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type DuckDBConnection, DuckDBInstance } from '@duckdb/node-api'

/**
 * The file of a database that DuckDB creates.
 * @param version of the format, such as `v1.5.0`; by default the usual one of DuckDB
 */
export async function duckdbFileBy(
  make: (connection: DuckDBConnection) => Promise<unknown>,
  version?: string,
): Promise<Buffer> {
  const folder = await mkdtemp(join(tmpdir(), 'penstock-duckdb-'))
  try {
    const path = join(folder, 'a.duckdb')
    const instance = await DuckDBInstance.create(':memory:', { threads: '1' })
    const connection = await instance.connect()
    try {
      await connection.run(`ATTACH '${path}' AS made ${version ? `(STORAGE_VERSION '${version}')` : ''}`)
      await connection.run('USE made')
      await make(connection)
      await connection.run('CHECKPOINT')
    } finally {
      connection.closeSync()
      instance.closeSync()
    }
    return await readFile(path)
  } finally {
    await rm(folder, { recursive: true, force: true })
  }
}

/** The file of a database that DuckDB creates from statements. */
export const duckdbFile = (...statements: readonly string[]): Promise<Buffer> =>
  duckdbFileBy(async (connection) => {
    for (const statement of statements) await connection.run(statement)
  })
