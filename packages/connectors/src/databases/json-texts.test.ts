import assert from 'node:assert/strict'
import { test } from 'node:test'
import { numbersIn, repeatedName } from './json-texts.ts'

test('finds a name that an object has twice, and no others', () => {
  for (const text of ['{"a":1,"a":2}', '[{"b":{"a":1,"\\u0061":2}}]', '{"a":{"x":1},"b":[],"a":0}']) {
    assert.equal(repeatedName(text), 'a', text)
  }
  for (const text of [
    '{"a":{"a":1}}',
    '[{"a":1},{"a":2}]',
    '{"a":"a","b":"a"}',
    '"{\\"a\\":1,\\"a\\":2}"',
    '[1,1]',
    '{}',
  ]) {
    assert.equal(repeatedName(text), undefined, text)
  }
  assert.deepEqual([...numbersIn('{"1":[-1.50,"2",true],"a":3e5}')], ['-1.50', '3e5'])
})
