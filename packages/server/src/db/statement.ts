import { createHash } from 'node:crypto'
import type { Db } from './database.ts'

/**
 * SQL statements as values. Each is prepared once on a connection and runs by name from then on, in a transaction as
 * well as outside one; rows come back with their columns in camel case.
 */
export type Statement<Parameters extends Record<string, unknown>, Row extends Record<string, unknown>> = {
  readonly text: string
  /** All rows. */
  all(db: Db, parameters: Parameters): Promise<Row[]>
  /** The first row, if there is one. */
  first(db: Db, parameters: Parameters): Promise<Row | undefined>
  /** How many rows it touched. */
  run(db: Db, parameters: Parameters): Promise<number>
}

/** Every statement of the program, for the test that has PostgreSQL prepare each one. */
export const statements: { readonly text: string }[] = []

/**
 * Makes a statement from SQL with named parameters, `:accountId`. A parameter may stand in several places.
 * The row type is the author's word for the columns that the SQL names; the tests hold them together.
 */
export function statement<
  Parameters extends Record<string, unknown> = Record<never, never>,
  Row extends Record<string, unknown> = Record<never, never>,
>(sql: string): Statement<Parameters, Row> {
  const names: string[] = []
  // A colon that starts a parameter follows no other colon (a cast) and precedes a letter.
  const text = sql.trim().replace(/(?<!:):([a-zA-Z]\w*)/g, (_, name: string) => {
    if (!names.includes(name)) names.push(name)
    return `$${names.indexOf(name) + 1}`
  })
  const name = createHash('sha256').update(text).digest('base64url').slice(0, 20)
  let columns: string[] | undefined

  const query = async (db: Db, parameters: Parameters) => {
    const result = await db.query<unknown[]>({
      name,
      text,
      rowMode: 'array',
      values: names.map((key) => parameters[key]),
    })
    columns ??= result.fields.map((field) => camelCase(field.name))
    return result
  }
  const toRow = (values: unknown[]): Row => {
    const row: Record<string, unknown> = {}
    for (let i = 0; i < values.length; i++) row[columns?.[i] ?? i] = values[i]
    return row as Row
  }
  const made: Statement<Parameters, Row> = {
    text,
    all: async (db, parameters) => (await query(db, parameters)).rows.map(toRow),
    first: async (db, parameters) => {
      const [values] = (await query(db, parameters)).rows
      return values && toRow(values)
    },
    run: async (db, parameters) => (await query(db, parameters)).rowCount ?? 0,
  }
  statements.push(made)
  return made
}

const camelCase = (name: string) => name.replace(/_([a-z])/g, (_, letter: string) => letter.toUpperCase())
