import assert from 'node:assert/strict'
import { test } from 'node:test'
import { extendMapping } from './add-columns.ts'

test('columns are added behind the entries of a mapping, and never over one', () => {
  const mapping = { id: 'id', Email: null, town: { column: 'city' }, kind: { value: 'x' } }
  const names = ['email', 'city', 'age', 'AGE', 'kind', '', 'a\0', '__proto__', 'x'.repeat(201)]
  const extended = extendMapping(JSON.stringify(mapping), names)
  assert.deepEqual(extended?.added, ['age', '__proto__'])
  assert.equal(extended?.text, `${JSON.stringify(mapping).slice(0, -1)},"age":"age","__proto__":"__proto__"}`)
  assert.deepEqual(extendMapping(extended?.text ?? '', names)?.added, [], 'once')
  assert.equal(extendMapping('{\n  "id": "id"\n}', ['age'])?.text, '{\n  "id": "id",\n  "age": "age"\n}')
})

test('an empty mapping passes all columns and stays as it is, and none becomes too long', () => {
  for (const text of ['', ' ', '{}']) assert.deepEqual(extendMapping(text, ['age']), { text, added: [], passes: true })
  const long = JSON.stringify(Object.fromEntries(Array.from({ length: 900 }, (_, at) => [`c${at}`, 'x'.repeat(60)])))
  assert.equal(
    extendMapping(
      long,
      [...'abcdefghij'].map((letter) => letter.repeat(190)),
    )?.added.length,
    undefined,
  )
})
