import type pg from 'pg'
import type { Db } from '../../packages/server/src/db/database.ts'
import type { Statement } from '../../packages/server/src/db/statement.ts'

let made = 0

/**
 * A statement of the service as the driver takes it from anybody: its text, prepared under a name, and its values in
 * order. Fails where a value is not given that the statement names, so that the limit never does less than is said.
 */
export function plain<P extends Record<string, unknown>, R extends Record<string, unknown>>(
  statement: Statement<P, R>,
): (values: Record<string, unknown>) => pg.QueryConfig {
  // The statement is run on a database that only listens, with each parameter's name as its value.
  let names: string[] = []
  const listening: Db = {
    query: ({ values = [] }) => {
      names = values.map(String)
      return new Promise<never>(() => {})
    },
  }
  void statement.run(listening, new Proxy({} as P, { get: (_, name) => name }))
  const { text } = statement
  const name = `bare ${++made}`
  return (given) => ({
    name,
    text,
    values: names.map((key) => {
      if (!(key in given)) throw new Error(`The statement takes ${key}, which the limit does not give it.`)
      return given[key]
    }),
  })
}
