import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Lines } from '../mapping/mapping.ts'
import { applyLines, changesBetween, findingsOf } from './template-lines.ts'

const applied = {
  mapping: '{"email": {"column": "e_mail", "default": "x"}, "city": null, "action": {"value": "add"}}',
  columns: [
    { field: 'email', templateColumn: 'E-Mail', column: 'e_mail', candidates: [] },
    { field: 'city', templateColumn: 'Town', column: null, candidates: ['Ort'] },
  ],
  findings: [{ field: 'city', message: 'the template maps "Town", which this source does not have' }],
  losses: [],
}
const current: Lines = [
  { field: 'phone', entry: { kind: 'column', column: 'Mobile' } },
  { field: 'city', entry: { kind: 'column', column: 'Ort' } },
  { field: 'action', entry: { kind: 'value', value: 'add' } },
]

test('a template replaces what it names, empties what the source lacks, and keeps the rest', () => {
  const lines = applyLines(current, applied, true)
  assert.deepEqual(
    lines.map(({ field, entry }) => [field, entry.kind]),
    [
      ['phone', 'column'],
      ['city', 'empty'],
      ['action', 'value'],
      ['email', 'column'],
    ],
  )
  assert.deepEqual(
    changesBetween(current, lines, applied).map(({ field, templateColumn }) => [field, templateColumn]),
    [
      ['city', undefined],
      ['email', 'E-Mail'],
    ],
  )
  assert.deepEqual(changesBetween(lines, applyLines(lines, applied, true), applied), [])
  assert.deepEqual(
    findingsOf(applied).map(({ templateColumn, candidates }) => [templateColumn, candidates]),
    [['Town', ['Ort']]],
  )
})

test('a destination that takes any columns gets the lines of the template, open ones included', () => {
  const lines = applyLines(current, applied, false)
  assert.deepEqual(
    lines.map(({ field }) => field),
    ['email', 'city', 'action'],
  )
  assert.deepEqual(lines[1]?.entry, { kind: 'column', column: '' })
  assert.equal(
    changesBetween(current, lines, applied).some(({ field }) => field === 'phone'),
    true,
  )
})
