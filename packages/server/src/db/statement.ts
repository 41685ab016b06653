import { createHash } from 'node:crypto'
import type { Db } from './database.ts'
import { Columns, Run } from './run.ts'

/**
 * SQL statements as values. Each is prepared once per connection and then runs by name, in a transaction as well as outside
 * one. Column names of rows are in camel case.
 */
export type Statement<Parameters extends Record<string, unknown>, Row extends Record<string, unknown>> = {
  readonly text: string
  /**
   * The query as it is sent with parameters, to inspect it without running it. Without a name, it is planned each time.
   */
  sends(parameters: Parameters): { name: string; text: string; values: unknown[] }
  /** Whether PostgreSQL makes a plan for the values at hand each time. */
  readonly plannedEachTime: boolean
  /** All rows. */
  all(db: Db, parameters: Parameters): Promise<Row[]>
  /** The first row, if there is one. */
  first(db: Db, parameters: Parameters): Promise<Row | undefined>
  /** How many rows it touched. */
  run(db: Db, parameters: Parameters): Promise<number>
}

/** Every statement of the program, for the tests that have PostgreSQL prepare and describe each one. */
export const statements: Pick<Statement<never, never>, 'text' | 'plannedEachTime' | 'sends'>[] = []

/**
 * How the rows of each prepared statement are read, by its name. A connection describes the columns of a name once, and
 * two statements of the same words have one name: so they have one reader, too.
 */
const readers = new Map<string, unknown>()

function readerOf<Row extends Record<string, unknown>>(name: string): Columns<Row> {
  if (name === '') return new Columns<Row>()
  const reader = (readers.get(name) as Columns<Row> | undefined) ?? new Columns<Row>()
  readers.set(name, reader)
  return reader
}

export type StatementOptions = {
  /** Has PostgreSQL make a plan for the values at hand each time, if no plan fits all values: it is not prepared by name. */
  readonly plannedEachTime?: boolean
  /** Whether its rows can have more bytes than an answer of the API. */
  readonly isLong?: boolean
}

/**
 * Creates a statement from SQL with named parameters, `:accountId`. A parameter can occur several times.
 * `test/statement-types.test.ts` compares both types with what PostgreSQL says of the SQL.
 */
export function statement<
  Parameters extends Record<string, unknown> = Record<never, never>,
  Row extends Record<string, unknown> = Record<never, never>,
>(sql: string, { plannedEachTime = false, isLong = false }: StatementOptions = {}): Statement<Parameters, Row> {
  const names: string[] = []
  // A colon that starts a parameter follows no other colon (a cast) and precedes a letter.
  const text = sql.trim().replace(/(?<!:):([a-zA-Z]\w*)/g, (_, name: string) => {
    if (!names.includes(name)) names.push(name)
    return `$${names.indexOf(name) + 1}`
  })
  const name = plannedEachTime ? '' : createHash('sha256').update(text).digest('base64url').slice(0, 20)
  const columns = readerOf<Row>(name)

  const send = async (db: Db, parameters: Parameters): Promise<Run<Row>> => {
    const run = new Run(made.sends(parameters), columns)
    if (isLong) run.bytesMax = Number.POSITIVE_INFINITY
    db.query(run)
    await run.finished
    return run
  }
  const made: Statement<Parameters, Row> = {
    text,
    plannedEachTime,
    sends: (parameters) => ({ name, text, values: names.map((key) => parameters[key]) }),
    all: async (db, parameters) => (await send(db, parameters)).rows,
    first: async (db, parameters) => (await send(db, parameters)).rows[0],
    run: async (db, parameters) => (await send(db, parameters)).rowCount,
  }
  statements.push(made)
  return made
}
