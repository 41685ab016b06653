import type pg from 'pg'
import { type ServerName, transactionRolledBack, unexpectedAnswer } from './errors.ts'

/** Reading what a server answered without believing it: what is not of the form asked for is a `ConnectorError`. */

/** How the text of a value is read. With a question mark, it may be null. */
type Readers = {
  text: string
  'text?': string | null
  /** Up to 15 digits. */
  integer: number
  boolean: boolean
  json: unknown
}

/** The columns that a statement gives, and how each is read. */
export type Shape = Readonly<Record<string, keyof Readers>>

export type Shaped<S extends Shape> = { readonly [K in keyof S]: Readers[S[K]] }

const read: { readonly [K in keyof Readers]: (value: unknown) => Readers[K] | undefined } = {
  text: (value) => (typeof value === 'string' ? value : undefined),
  'text?': (value) => (typeof value === 'string' || value === null ? value : undefined),
  integer: (value) => (typeof value === 'string' && /^-?\d{1,15}$/.test(value) ? Number(value) : undefined),
  boolean: (value) => (value === 't' ? true : value === 'f' ? false : undefined),
  json(value) {
    try {
      return typeof value === 'string' ? JSON.parse(value) : undefined
    } catch {
      return undefined
    }
  },
}

/** The rows of a result, read by their shape. Throws a `ConnectorError` if a row has another shape. */
export function shaped<S extends Shape>(server: ServerName, rows: readonly object[], shape: S): Shaped<S>[] {
  return rows.map((row) => {
    const entries = Object.entries(shape).map(([name, kind]) => {
      const value = Object.hasOwn(row, name) ? read[kind]((row as Record<string, unknown>)[name]) : undefined
      if (value === undefined) throw unexpectedAnswer(server, 'a row without the columns that were asked for')
      return [name, value] as const
    })
    return Object.fromEntries(entries) as Shaped<S>
  })
}

/**
 * Asserts that the results are those of these statements, each of which was completed.
 * @return how many rows each of them changed or gave
 */
export function completed(
  server: ServerName,
  statements: readonly string[],
  results: readonly Pick<pg.QueryResult, 'command' | 'rowCount'>[],
): number[] {
  return statements.map((statement, at) => {
    const { command, rowCount } = results[at] ?? {}
    const verb = /^\s*(\w+)/.exec(statement)?.[1]?.toUpperCase()
    const expected = verb === 'WITH' ? 'SELECT' : verb
    // PostgreSQL answers ROLLBACK to the COMMIT of a failed transaction.
    if (expected === 'COMMIT' && command === 'ROLLBACK') throw transactionRolledBack(server)
    const isNumber = rowCount === null || rowCount === undefined || Number.isSafeInteger(rowCount)
    if (command !== expected || results.length !== statements.length || !isNumber) {
      throw unexpectedAnswer(server, 'the completion of another statement than was asked for')
    }
    return rowCount ?? 0
  })
}
