import assert from 'node:assert/strict'
import { test } from 'node:test'
import { connectors, platforms } from '../index.ts'
import { errorOfDefinition } from './error-of-definition.ts'
import { readDefinition, type WrittenDefinition, writeDefinition } from './written-definition.ts'

/**
 * Without connectors that only this program can have, and without texts in a custom language, whose check is not written to the
 * file.
 */
const writable = connectors.filter(
  ({ authorization, readsEvents, readsRejects, readsUploads, status, secrets }) =>
    !authorization &&
    !readsUploads &&
    !readsEvents &&
    !readsRejects &&
    status !== 'withdrawn' &&
    !Object.values(secrets).some(({ wrong }) => wrong),
)
const written = (connector: (typeof connectors)[number]): WrittenDefinition =>
  JSON.parse(JSON.stringify(writeDefinition(connector)))

test('a definition that was written down is the same connector to the service', () => {
  assert(writable.length > 20)
  for (const connector of writable) {
    const text = written(connector)
    assert.equal(errorOfDefinition(text), undefined, connector.slug)
    const read = readDefinition(text, platforms)
    for (const key of [
      'id',
      'name',
      'platform',
      'roles',
      'integrated',
      'supportedType',
      'secrets',
      'description',
    ] as const)
      assert.deepEqual(read[key], connector[key], `${connector.slug} ${key}`)
    for (const side of ['source', 'destination'] as const) {
      assert.deepEqual(read[side]?.fields, connector[side] && (connector[side].fields ?? {}))
      assert.deepEqual(read[side]?.records, JSON.parse(JSON.stringify(connector[side]?.records ?? null)) ?? undefined)
      assert.deepEqual(Object.keys(read[side]?.discover ?? {}), Object.keys(connector[side]?.discover ?? {}))
    }
    const [own, ours] = [read.destination?.deliver, connector.destination?.deliver]
    assert.equal(own?.inspect === undefined, ours?.inspect === undefined)
    for (const [key, field] of Object.entries(connector.destination?.fields ?? {})) {
      for (const value of field.options ?? []) {
        const settings = { [key]: value }
        assert.equal(own?.replaces?.(settings) ?? false, ours?.replaces?.(settings) ?? false, connector.slug)
      }
    }
  }
})

test('says what is wrong with a definition that no compiler checked', () => {
  const [first] = writable
  assert(first)
  const right = written(first)
  const cases: readonly [object, RegExp][] = [
    [{ name: 7 }, /^name must be a text/],
    [{ slug: '../up' }, /^slug must be lowercase/],
    [{ dataType: 'gold' }, /^dataType must be one of/],
    [{ secrets: { a: { type: 'Colour' } } }, /^secrets a type must be one of/],
    [{ source: { fields: [], discovers: [], opens: 'yes' } }, /^source opens must be one of/],
    [{ description: 'x'.repeat(20_000) }, /^description must be a text/],
    [{ status: 'withdrawn' }, /^status must be one of/],
  ]
  for (const [change, message] of cases) assert.match(errorOfDefinition({ ...right, ...change }) ?? '', message)
  for (const value of [null, 7, 'text', []]) assert.equal(errorOfDefinition(value) === undefined, false)
})
