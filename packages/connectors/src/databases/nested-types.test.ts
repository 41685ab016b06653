import assert from 'node:assert/strict'
import { test } from 'node:test'
import { columnTypeOf as clickhouseType, readColumnOf } from '../clickhouse/cells.ts'
import { columnTypeOf as databricksType } from '../databricks/cells.ts'
import { columnTypeOf as bigqueryType, fieldsIn } from '../google-bigquery/cells.ts'
import { columnTypeOf as postgresqlType } from '../postgresql/cells.ts'

/** The types that databases declare for lists and structs. */

const list = (items: object | null) => ({ kind: 'list', items })
const struct = (fields: Record<string, object | null>) => ({
  kind: 'struct',
  fields: Object.entries(fields).map(([name, type]) => ({ name, type })),
})
const json = { kind: 'json' }
const bigint = { kind: 'bigint' }

test('lists and structs have the types of their items and fields', () => {
  const databricks = (declared: string) =>
    databricksType({ name: 'c', type: declared.toUpperCase().replaceAll(' ', ''), declared })
  assert.deepEqual(
    databricks("array<struct<fullName: string, n:decimal(10,2) NOT NULL COMMENT 'a, b'>>"),
    list(struct({ fullName: null, n: { kind: 'decimal', precision: 10, scale: 2 } })),
  )
  assert.deepEqual(
    databricks('struct<`a ``b`:array<int>,bytes:binary,m:map<string,int>,v:variant>'),
    struct({ 'a `b': list(bigint), bytes: null, m: json, v: json }),
  )
  assert.deepEqual(databricks('map<string,array<int>>'), json)
  assert.deepEqual(databricks(`${'array<'.repeat(11)}int${'>'.repeat(11)}`)?.kind, 'list')

  const clickhouse = (type: string) => clickhouseType(readColumnOf('c', type))
  assert.deepEqual(clickhouse('Array(Nullable(Int64))'), list(bigint))
  assert.deepEqual(
    clickhouse("Tuple(id UInt32, `a \\`b` Array(Decimal(10, 2)), at DateTime64(3, 'UTC'), e Enum8('x, y' = 1))"),
    struct({ id: bigint, 'a `b': list({ kind: 'decimal', precision: 10, scale: 2 }), at: null, e: null }),
  )
  assert.deepEqual(clickhouse('Nested(a Int8, b LowCardinality(String))'), list(struct({ a: bigint, b: null })))
  for (const other of ['Tuple(String, Int64)', 'Map(String, Int64)', 'JSON']) assert.deepEqual(clickhouse(other), json)
  assert.deepEqual(clickhouse('Array(Map(String, Int64))'), list(json))

  const [field] = fieldsIn([
    {
      name: 'items',
      type: 'RECORD',
      mode: 'REPEATED',
      fields: [
        { name: 'id', type: 'INT64' },
        { name: 'tags', type: 'STRING', mode: 'REPEATED' },
        { name: 'doc', type: 'JSON' },
      ],
    },
  ])
  assert.deepEqual(field && bigqueryType(field), list(struct({ id: bigint, tags: list(null), doc: json })))

  const postgresql = (dataTypeID: number, dataTypeModifier = -1) =>
    postgresqlType({ dataTypeID, dataTypeModifier }, 'array')
  assert.deepEqual(postgresql(1007), list({ kind: 'integer' }))
  assert.deepEqual(postgresql(1009), list(null))
  assert.deepEqual(postgresql(1231, ((10 << 16) | 2) + 4), list({ kind: 'decimal', precision: 10, scale: 2 }))
  assert.deepEqual(postgresql(1231), list({ kind: 'decimal' }))
  // Arrays of other types, such as composites.
  assert.deepEqual(postgresql(99_999), json)
})
