import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import type { Cell } from '@penstock/connector'
import fc from '../../../../test/harness/property.ts'
import { startPostgresql } from '../../test/postgresql.ts'
import { madeTypes, valueTexts, word } from '../../test/postgresql-values.ts'
import { batchOf, deliver, readAll, rowsOf } from '../../test/tables.ts'
import { postgresql } from './postgresql.ts'

const server = await startPostgresql()
after(() => server.close())
const { secrets, query } = server

before(() => query(madeTypes))

const seed = 20_260_131

/** The values of a table as PostgreSQL prints them. Two values are equal if their texts are equal. */
const held = (table: string, type: string) =>
  query<{ id: number; value: string | null }>(
    `select id, ${type.startsWith('json') ? `regexp_replace(value::text, '\\s', '', 'g')` : 'value::text'} as value from crm.${table} order by id`,
  )

async function makeTables(type: string): Promise<void> {
  const table = `(id int primary key, value ${type})`
  await query(`
    drop table if exists crm.source, crm.target;
    create table crm.source ${table}; create table crm.target ${table}`)
}

/** Each batch has a number of its own, because the same batch is written only once. */
let batches = 0

describe(`values of PostgreSQL ${server.version}`, () => {
  for (const [type, values] of Object.entries(valueTexts)) {
    test(`${type}: each value comes back as it was`, async () => {
      await makeTables(type)
      await fc.assert(
        fc.asyncProperty(fc.array(fc.option(values), { minLength: 1, maxLength: 30 }), async (texts) => {
          await query('delete from crm.source')
          await query(
            `insert into crm.source select id, value::${type} from unnest($1::int[], $2::text[]) as t (id, value)`,
            [[...texts.keys()], texts],
          )
          const chunks = await readAll(postgresql, { secrets, settings: { schema: 'crm', table: 'source' } })
          // The last row makes the batch go row by row.
          for (const dirty of [[], [['not a number', null]]]) {
            await query('delete from crm.target')
            const settings = { schema: 'crm', table: 'target' }
            const batch = batchOf(['id', 'value'], [...rowsOf(chunks), ...(dirty as Cell[][])], ++batches)
            const { rejected = [] } = await deliver(postgresql, { secrets, settings }, batch)
            assert.equal(rejected.length, dirty.length)
            assert.deepEqual(await held('target', type), await held('source', type))
          }
        }),
        { seed, numRuns: 2 },
      )
    })

    test(`${type}: each text of a file is stored as PostgreSQL reads it, or rejected`, async () => {
      await makeTables(type)
      await fc.assert(
        fc.asyncProperty(
          fc.array(fc.oneof({ arbitrary: values, weight: 5 }, word), { minLength: 1, maxLength: 30 }),
          async (texts) => {
            await query('delete from crm.target')
            const settings = { schema: 'crm', table: 'target' }
            const rows = texts.map((text, id): Cell[] => [id, text])
            const { rejected = [] } = await deliver(
              postgresql,
              { secrets, settings },
              batchOf(['id', 'value'], rows, ++batches),
            )
            const refused = new Set(rejected.map(({ index }) => index))
            const stored = new Map((await held('target', type)).map(({ id, value }) => [id, value]))
            assert.equal(stored.size + refused.size, texts.length)
            for (const [id, text] of texts.entries()) {
              if (refused.has(id)) continue
              const value = stored.get(id) ?? null
              if (value === null) assert.equal(text, '', 'only an empty text becomes none')
              else if (/bytea|code/.test(type)) continue
              else {
                const [same] = await query<{ same: boolean }>(
                  `select ${type.startsWith('json') ? `regexp_replace($1::${type}::text, '\\s', '', 'g')` : `$1::${type}::text`} = $2 as same`,
                  [text, value],
                ).catch(() => [{ same: text.trimStart().startsWith('[') }])
                assert.ok(same?.same, `${JSON.stringify(text)} became ${JSON.stringify(value)}`)
              }
            }
          },
        ),
        { seed, numRuns: 2 },
      )
    })
  }
})
