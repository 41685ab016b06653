import assert from 'node:assert/strict'
import { test } from 'node:test'
import { columnOf as clickhouseColumnOf } from '../../clickhouse/target-columns.ts'
import { columnsIn } from '../../databricks/target-columns.ts'
import { targetFieldsIn } from '../../google-bigquery/target-values.ts'
import { columnOf as redshiftColumnOf } from '../../redshift/target-columns.ts'
import { targetColumn } from '../../snowflake/target-columns.ts'
import { mirrorErrors, nameKeysBy } from './key-names.ts'
import type { JudgedColumn } from './rows.ts'

/** Key columns of each warehouse with values that only the warehouse compares, and others. */

const bigQuery = (type: string, collation = '') => targetFieldsIn({ fields: [{ name: 'id', type, collation }] })[0]
const databricks = (type: string) => columnsIn([{ name: 'id', type_text: type, nullable: false }])[0]
const clickhouse = (type: string) => clickhouseColumnOf(['id', type, ''])
const redshift = (type: string) => redshiftColumnOf('id', type, true, null)
const snowflake = (isCollated: boolean) => targetColumn({ name: 'ID', type: 'TEXT', scale: 0, isCollated }, true)

test('a mirror is refused by a key column with a collation, or a type that only the warehouse can judge', () => {
  const fine = [
    ...['STRING', 'INTEGER', 'TIMESTAMP'].map((type) => bigQuery(type)),
    ...['string', 'varchar(20)', 'bigint', 'decimal(10,2)'].map(databricks),
    ...['String', 'LowCardinality(String)', 'UInt64', 'UUID', "Enum8('a' = 1)", "DateTime('UTC')"].map(clickhouse),
    ...['character varying(20)', 'bigint', 'timestamp with time zone'].map(redshift),
    snowflake(false),
  ]
  const ambiguous = [
    bigQuery('STRING', 'und:ci'),
    ...['string collate UTF8_LCASE', 'varchar(20) collate UNICODE_CI', 'interval day'].map(databricks),
    ...['IPv4', 'Tuple(UInt8, String)'].map(clickhouse),
    ...['time with time zone', 'geometry'].map(redshift),
    snowflake(true),
  ]
  const errorsOf = (column: JudgedColumn | undefined, sendRows = 'Mirror') =>
    mirrorErrors({ sendRows }, [{ ...(column as JudgedColumn), isKey: true }])
  for (const column of fine) assert.deepEqual(errorsOf(column), [])
  for (const column of ambiguous) {
    const [error] = errorsOf(column)
    assert.equal(error?.code, 'not_supported')
    assert.match(error.describe(['id']), /^A mirror cannot tell which values of the key column id are the same/)
    assert.deepEqual(errorsOf(column, 'Changed'), [])
    assert.deepEqual(mirrorErrors({ sendRows: 'Mirror' }, [column as JudgedColumn]), [])
  }
})

test('spaces at the end of a text, and its case, count as they do for the warehouse', async () => {
  const name = async (column: JudgedColumn | undefined, text: string, caseless = false) =>
    (await nameKeysBy([column as JudgedColumn], ['ID'], async () => caseless)([[text]]))[0]
  assert.equal(await name(redshift('character varying(20)'), 'a  '), await name(redshift('character varying(20)'), 'a'))
  assert.equal(await name(databricks('char(20)'), 'a  '), await name(databricks('char(20)'), 'a'))
  assert.notEqual(await name(databricks('string'), 'a  '), await name(databricks('string'), 'a'))
  assert.notEqual(await name(redshift('text'), 'A'), await name(redshift('text'), 'a'))
  assert.equal(await name(redshift('text'), 'STRASSE', true), await name(redshift('text'), 'straße', true))
})
