import type pg from 'pg'
import type { Statement } from '../../packages/server/src/db/statement.ts'

let made = 0

/**
 * A statement of the service in the form that the driver accepts: its text, prepared under a name, and its values in order. Fails
 * if a value that the statement names is missing, so that the limit never does less work than it claims.
 */
export function plain<P extends Record<string, unknown>, R extends Record<string, unknown>>(
  statement: Statement<P, R>,
): (values: P) => pg.QueryConfig {
  // With each parameter's name as its value, the values are the names in order.
  const names = statement.sends(new Proxy({} as P, { get: (_, name) => name })).values.map(String)
  const { text } = statement
  const name = `bare ${++made}`
  return (given: Record<string, unknown>) => ({
    name,
    text,
    values: names.map((key) => {
      if (!(key in given)) throw new Error(`The statement takes ${key}, which the limit does not give it.`)
      return given[key]
    }),
  })
}
