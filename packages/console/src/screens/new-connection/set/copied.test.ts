import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { ConnectionDetails, ConnectorDefinition, FieldDefinition } from '@penstock/wire'
import { copiedSettings } from './copied.ts'

const field = (name: string, more: Partial<FieldDefinition> = {}): FieldDefinition => ({
  name,
  label: name,
  description: '',
  type: 'Text',
  required: false,
  readonly: false,
  ...more,
})
const written = field('writeMode', { type: 'Select', options: ['Upsert'], meanings: { Upsert: 'update' } })
const destination = (connectorId: string, records: string[], fields: FieldDefinition[]) =>
  ({
    connectorId,
    destination: {
      fields: [...fields, field('mapping'), field('filter')],
      records: records.map((name) => ({ name, description: '', required: false })),
    },
  }) as unknown as ConnectorDefinition
const table = [field('table'), written, field('keyColumns', { purpose: 'key' })]
const connection = {
  srcConnectionConfig: { files: 'people.csv' },
  destConnectionConfig: {
    table: 'people',
    writeMode: 'Upsert',
    keyColumns: 'id',
    mapping: '{"a": "b"}',
    filter: 'true',
  },
} as unknown as ConnectionDetails

test('the same connector gets all settings', () => {
  const { src, dest } = copiedSettings(connection, destination('a', [], table), destination('a', [], table))
  assert.deepEqual(src, { files: 'people.csv' })
  assert.deepEqual(dest, connection.destConnectionConfig)
})

test('another connector gets only settings that mean the same there, and never an address', () => {
  const other = [field('table'), { ...written, meanings: { Upsert: 'update' as const, Append: 'add' as const } }]
  const keyed = [...other, field('keyColumns', { purpose: 'key' })]
  assert.deepEqual(copiedSettings(connection, destination('a', [], table), destination('b', [], keyed)).dest, {
    writeMode: 'Upsert',
    keyColumns: 'id',
    mapping: '{"a": "b"}',
    filter: 'true',
  })
  const otherMode = [{ ...written, meanings: { Upsert: 'replace' as const } }]
  assert.deepEqual(
    copiedSettings(connection, destination('a', [], table), destination('b', ['email'], otherMode)).dest,
    {
      filter: 'true',
    },
  )
})
