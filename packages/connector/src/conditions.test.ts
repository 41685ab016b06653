import assert from 'node:assert/strict'
import { test } from 'node:test'
import { fieldCounts, fieldIsRequired } from '@penstock/wire/rules'
import { boolean, select, text } from './fields.ts'

/** The contract's rule whether a field counts, on fields as connectors define them. */

const about = { label: 'Label', description: 'Description' }
const fields = {
  way: select({ ...about, required: true, options: ['key', 'oauth', 'none'], default: 'key' }),
  flow: select({ ...about, required: true, options: ['web', 'device'], when: { way: 'oauth' } }),
  key: text({ ...about, required: true, when: { way: 'key' } }),
  code: text({ ...about, required: true, when: { flow: ['device'] } }),
  both: text({ ...about, required: true, when: { way: ['key', 'oauth'], flow: 'web' } }),
  target: text({ ...about, required: true, role: 'Destination' }),
  filled: text({ ...about, readonly: true }),
  loud: boolean(about),
}

const cases: [values: Record<string, unknown>, required: (keyof typeof fields)[]][] = [
  [{}, ['way', 'key']],
  [{ way: '' }, ['way', 'key']],
  [{ way: null }, ['way', 'key']],
  [{ way: 'none' }, ['way']],
  [{ way: 'oauth' }, ['way', 'flow']],
  [{ way: 'oauth', flow: 'web' }, ['way', 'flow', 'both']],
  [{ way: 'oauth', flow: 'device' }, ['way', 'flow', 'code']],
  // A condition is not met if the field that it refers to does not apply.
  [{ way: 'key', flow: 'device' }, ['way', 'key']],
  [{ way: 'unheard of' }, ['way']],
]

for (const [values, required] of cases) {
  test(`with ${JSON.stringify(values)}, ${required.join(' and ')} need a value`, () => {
    const keys = Object.keys(fields)
    assert.deepEqual(
      keys.filter((key) => fieldIsRequired(fields, key, values)),
      required,
    )
    assert.deepEqual(
      keys.filter((key) => fieldIsRequired(fields, key, values, 'Destination')),
      [...required, 'target'],
    )
  })
}

test('a field that is not required counts all the same, and one without a definition has no conditions', () => {
  assert.equal(fieldCounts(fields, 'loud', {}), true)
  assert.equal(fieldCounts(fields, 'code', {}), false)
  assert.equal(fieldIsRequired(fields, 'toString', {}), false)
  assert.equal(fieldCounts({ ...fields, odd: { ...fields.key, when: { constructor: 'x' } } }, 'odd', {}), false)
})
