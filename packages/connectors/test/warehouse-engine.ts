import { DuckDBInstance } from '@duckdb/node-api'

/**
 * The engine of the servers that follow the rules of a data warehouse, so that the SQL which connectors send is
 * really run: DuckDB, with functions of the warehouse as macros.
 */
export type WarehouseEngine = {
  /** Runs one statement. Throws DuckDB's own errors. */
  run(text: string, values?: Record<string, string> | string[]): Promise<EngineResult>
  close(): void
}

export type EngineResult = {
  readonly columns: readonly { readonly name: string; readonly type: string }[]
  /** Every value as DuckDB writes it as text. */
  readonly rows: readonly (readonly (string | null)[])[]
}

/** @param setup statements that run once, such as macros */
export async function startEngine(setup: readonly string[] = []): Promise<WarehouseEngine> {
  const instance = await DuckDBInstance.create(':memory:')
  const connection = await instance.connect()
  await connection.run(`set timezone = 'UTC'`).catch(() => {})
  for (const statement of setup) await connection.run(statement)
  return {
    async run(text, values = []) {
      const result = await connection.runAndReadAll(text, values)
      const types = result.columnTypes().map(String)
      const columns = result.columnNames().map((name, at) => ({ name, type: types[at] ?? '' }))
      return { columns, rows: result.getRowsJson().map((row) => row.map(textOf)) }
    },
    close() {
      connection.closeSync()
      instance.closeSync()
    },
  }
}

function textOf(value: unknown): string | null {
  if (value === null || value === undefined) return null
  return typeof value === 'object' ? JSON.stringify(value) : String(value)
}
