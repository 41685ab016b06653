import assert from 'node:assert/strict'
import { readFile } from 'node:fs/promises'
import { before, test } from 'node:test'
import { init, validate } from '@guanmingchiu/sqlparser-ts'

/** The statements of docs/outcomes-in-sql.md in the dialect that each names, judged by the parser of Apache DataFusion. */

const dialects = { PostgreSQL: ['postgresql'], BigQuery: ['bigquery'], Snowflake: ['snowflake'] } as const
const any = Object.values(dialects).flat()

type Statement = { readonly of: string; readonly sql: string }
let statements: Statement[]

before(async () => {
  await init()
  const guide = await readFile(new URL('../docs/outcomes-in-sql.md', import.meta.url), 'utf8')
  const blocks = guide.match(/```sql\n/g)?.length
  const found = [...guide.matchAll(/```sql\n-- (PostgreSQL|BigQuery|Snowflake|Any).*\n([^`]+(?:`[^`]+`[^`]+)*?)```/g)]
  statements = found.map(([, of = '', sql = '']) => ({ of, sql }))
  assert.equal(statements.length, blocks, 'every statement names its dialect')
})

test('every statement is valid in its dialect, or in all three', () => {
  for (const { of, sql } of statements) {
    const named = dialects[of as keyof typeof dialects] ?? any
    for (const dialect of named) assert.doesNotThrow(() => validate(sql, dialect), `${dialect}: ${sql}`)
  }
  assert.deepEqual(new Set(statements.map(({ of }) => of)), new Set([...Object.keys(dialects), 'Any']))
})

test('the parser refuses statements with a fault', () => {
  for (const { of, sql } of statements) {
    const named = dialects[of as keyof typeof dialects] ?? any
    for (const dialect of named) assert.throws(() => validate(sql.replace(/(?:,| from )/, ' , from '), dialect), sql)
  }
})
