import assert from 'node:assert/strict'
import { test } from 'node:test'
import { readDeclaredType } from './declared-types.ts'

test('types that sources declare are read, and whatever is not known is text', () => {
  const words = (type: string | null) => Object.values(readDeclaredType(type)).join(' ')
  const read = {
    integer: 'integer',
    'int(11)': 'integer',
    'int(10) unsigned zerofill': 'bigint',
    'int unsigned': 'bigint',
    'bigint(20) unsigned': 'decimal 20 0',
    'tinyint(1)': 'smallint',
    INT64: 'bigint',
    'numeric(8,2)': 'decimal 8 2',
    'decimal(6, 2)': 'decimal 6 2',
    numeric: 'decimal',
    'NUMBER(38,0)': 'decimal 38 0',
    'double precision': 'double',
    'timestamp without time zone': 'timestamp',
    'timestamp(3) without time zone': 'timestamp',
    'timestamp(3) with time zone': 'instant',
    'datetime(6)': 'timestamp',
    'TIMESTAMP_NTZ(9)': 'timestamp',
    timestamp: 'instant',
    jsonb: 'json',
    uuid: 'uuid',
    'character varying(20)': 'text',
    'integer[]': 'text',
    constructor: 'text',
    "enum('a','b')": 'text',
    'int); drop table t; --': 'text',
  }
  for (const [type, expected] of Object.entries(read)) assert.equal(words(type), expected, type)
  assert.equal(words(null), 'text')
})
