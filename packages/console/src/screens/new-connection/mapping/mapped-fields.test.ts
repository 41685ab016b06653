import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { RecordDefinition } from '@penstock/wire'
import {
  creatingFields,
  firstLines,
  groupOf,
  leftToDecide,
  mapFields,
  openGroups,
  unusedColumns,
} from './mapped-fields.ts'
import { completeLines, type Lines, readMapping, writeMapping } from './mapping.ts'

const field = (name: string, rest: Partial<RecordDefinition> = {}): RecordDefinition => ({
  name,
  description: '',
  required: false,
  ...rest,
})
const records = [
  field('action', { required: true, values: ['add', 'remove'] }),
  field('email', { oneOf: 'identifier' }),
  field('fn', { oneOf: 'identifier', together: 'name' }),
  field('ln', { oneOf: 'identifier', together: 'name' }),
  field('country'),
]
const match = (name: string, column: string | null, candidates: string[] = [], byDefault: string | null = null) => ({
  field: name,
  column,
  candidates,
  byDefault,
})
const matches = [match('email', 'Courriel'), match('country', null, ['Billing Country', 'Shipping Country'])]
const columns = ['Courriel', 'Billing Country', 'Shipping Country', 'Vorname']
const state = (lines: Lines, refused = {}) => mapFields({ records, lines, columns, matches, lint: [], refused })
const column = (name: string) => ({ kind: 'column', column: name }) as const

test('A new connection begins with the proposals and adds people; any other with what its transfers do', () => {
  assert.deepEqual(firstLines([], { records, columns, matches, isNew: true }), [
    { field: 'email', entry: column('Courriel') },
    { field: 'action', entry: { kind: 'value', value: 'add' } },
  ])
  assert.deepEqual(firstLines([], { records, columns, matches, isNew: false }), [
    { field: 'action', entry: { kind: 'value', value: 'add' } },
  ])
  const saved: Lines = [
    { field: 'action', entry: { kind: 'value', value: 'remove' } },
    { field: 'country', entry: { kind: 'empty' } },
  ]
  const sent = [match('email', 'Courriel', [], 'Courriel'), match('country', null, [], 'Courriel')]
  assert.deepEqual(firstLines(saved, { records, columns, matches: sent, isNew: false }), [
    { field: 'action', entry: { kind: 'value', value: 'remove' } },
    { field: 'country', entry: { kind: 'empty' } },
    { field: 'email', entry: column('Courriel') },
  ])
})

test('A saved column that the source spells otherwise is the same column', () => {
  const saved: Lines = [{ field: 'country', entry: column('billing_country') }]
  const [line] = firstLines(saved, { records, columns, matches: [], isNew: false })
  assert.deepEqual(line, { field: 'country', entry: column('Billing Country') })
})

test('Each field is where the user looks for it: what needs them first', () => {
  const fields = state([{ field: 'email', entry: column('Courriel') }])
  assert.deepEqual(
    fields.map((one) => [one.record.name, groupOf(one), one.isByName]),
    [
      ['action', 'need', false],
      ['email', 'matched', true],
      ['fn', 'open', false],
      ['ln', 'open', false],
      ['country', 'suggested', false],
    ],
  )
  assert.deepEqual(openGroups(fields), [])
  assert.deepEqual(
    openGroups(state([])).map(({ name }) => name),
    ['identifier'],
  )
})

test('A field needs the user if others wait for it, if its column is gone, and if the service refuses it', () => {
  const lines: Lines = [
    { field: 'fn', entry: column('Vorname') },
    { field: 'email', entry: column('Mail') },
    { field: 'country', entry: { kind: 'value', value: 'Atlantis' } },
  ]
  const needs = Object.fromEntries(
    state(lines, { country: 'is no country' }).map(({ record, need }) => [record.name, need]),
  )
  assert.deepEqual(needs, {
    action: { kind: 'required' },
    email: { kind: 'gone', column: 'Mail' },
    fn: undefined,
    ln: { kind: 'together', others: ['fn'] },
    country: { kind: 'refused', message: 'is no country' },
  })
  assert.deepEqual(unusedColumns(columns, lines), ['Courriel', 'Billing Country', 'Shipping Country'])
})

test('A mapping is written with every field, and keeps how values are read', () => {
  const lines: Lines = [
    { field: 'email', entry: { ...column('Courriel'), values: { none: null }, default: 'x@example.com' } },
    { field: 'country', entry: { ...column('Pays'), dates: 'DMY' } },
    { field: 'phone', entry: { kind: 'expression', expression: 'trim(tel)', default: '+43664' } },
  ]
  const text = writeMapping(completeLines(lines, ['email', 'phone', 'country']))
  assert.deepEqual(JSON.parse(text), {
    email: { column: 'Courriel', values: { none: null }, default: 'x@example.com' },
    phone: { expression: 'trim(tel)', default: '+43664' },
    country: { column: 'Pays', dates: 'DMY' },
  })
  assert.equal(writeMapping(readMapping(text) ?? []), text)
})

test('A person is asked once what a transfer would create, and answered by the mapping or by a setting', () => {
  const creates = { what: 'audience', records: ['segment_name', 'segment_id'], settings: ['audienceName'] } as const
  const definition = { ...creates, records: [...creates.records], settings: [...creates.settings] }
  const creating = creatingFields(definition, {})
  assert.deepEqual(creating, creates.records)
  assert.deepEqual(creatingFields(definition, { audienceName: 'VIP' }), [])
  assert.deepEqual(creatingFields(undefined, {}), [])
  const people = [field('segment_name'), field('segment_id'), field('email')]
  const left = (lines: Lines) =>
    leftToDecide(mapFields({ records: people, lines, columns, matches: [], lint: [], refused: {}, creating }))
  assert.equal(left([]), 1)
  assert.equal(left([{ field: 'segment_name', entry: column('') }]), 1)
  assert.equal(left([{ field: 'segment_name', entry: { kind: 'empty' } }]), 0)
  assert.equal(left([{ field: 'segment_id', entry: { kind: 'value', value: '7' } }]), 0)
  const begin = (isNew: boolean) => firstLines([], { records: people, columns, matches: [], isNew, creating })
  assert.deepEqual(begin(true), [])
  assert.deepEqual(
    begin(false).map(({ field }) => field),
    creates.records,
  )
})
