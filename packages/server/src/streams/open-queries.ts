import { statement } from '../db/statement.ts'

/** Columns of a stream in the order in which they were first seen. */
export const columnsOf = statement<{ stream: number }, { name: string; kinds: number }>(`
  select name, kinds from stream_columns where stream = :stream order by position
`)
