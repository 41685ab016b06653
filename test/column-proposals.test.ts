import assert from 'node:assert/strict'
import { test } from 'node:test'
import { connectors } from '../packages/connectors/src/index.ts'
import { meaningOfField } from '../packages/engine/src/mapping/column-meanings.ts'
import { exports, headersOf, unseenExports } from '../packages/engine/src/mapping/exported-headers.ts'
import { matchColumns } from '../packages/engine/src/mapping/match-columns.ts'

/** The field of the exports for a meaning of a field. The form of values shows only e-mail addresses and phone numbers. */
const fieldOfMeaning: Readonly<Record<string, string>> = {
  email: 'email',
  phone: 'phone',
  'first name': 'first_name',
  'last name': 'last_name',
  city: 'city',
  state: 'state',
  'postal code': 'zip',
  country: 'country',
  'birth date': 'date_of_birth',
  gender: 'gender',
  person: 'external_id',
}

test('No connector is proposed a column of something else for what identifies a person', () => {
  const wrong: string[] = []
  let proposed = 0
  for (const { slug, destination } of connectors) {
    const { records } = destination ?? {}
    if (!records) continue
    for (const [origin, text] of Object.entries({ ...exports, ...unseenExports })) {
      const headers = headersOf(text)
      const names = headers.map(({ name }) => name)
      for (const { field, column } of matchColumns(records, names)) {
        const [form] = records[field]?.normalise?.split('-') ?? []
        const meaning = meaningOfField(field.replace(/_(?:sha)?256$/, '')) ?? form
        const expected = fieldOfMeaning[meaning ?? '']
        if (column === undefined || expected === undefined) continue
        proposed++
        const header = headers.find(({ name }) => name === column)
        if (header?.expected !== expected && header?.suggestedFor !== expected) {
          wrong.push(`${slug} ${field}: ${column} of ${origin}`)
        }
      }
    }
  }
  assert.deepEqual(wrong, [])
  assert.ok(proposed > 2_000, `${proposed}`)
})

test('The fields of a connector are proposed the columns that are called like them', () => {
  for (const { slug, destination } of connectors) {
    const names = Object.keys(destination?.records ?? {})
    const matches = matchColumns(destination?.records ?? {}, names)
    for (const { field, column } of matches) assert.equal(column, field, slug)
  }
})
