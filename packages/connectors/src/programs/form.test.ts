import assert from 'node:assert/strict'
import { test } from 'node:test'
import { defineConnector } from '@penstock/connector'
import { configOf } from './config-of-form.ts'
import { definitionOfProgram } from './definition-of-program.ts'
import { formOf } from './form.ts'

const token = { type: 'string', airbyte_secret: true }

/** The configuration of the program as JSON, if a person enters these values. */
function given(properties: object, values: Record<string, string | number | boolean>): string {
  const form = formOf({ type: 'object', properties })
  // A form that the kit refuses cannot be added.
  defineConnector(definitionOfProgram({ protocol: 'airbyte', command: ['x'], form }, { slug: 'acme', name: 'Acme' }))
  return JSON.stringify(configOf(form, values))
}

test('every setting that is no secret binds the secrets, whatever its type', () => {
  const { fields } = formOf({
    properties: {
      token,
      port: { type: 'integer' },
      ssl: { type: 'boolean' },
      region: { type: 'string', enum: ['eu', 'us'] },
      host: { type: 'string' },
      version: { const: 2 },
      options: { type: 'object', properties: { host: { type: 'string' } } },
      ratio: { type: 'number' },
      names: { type: 'array', items: { type: 'string' } },
      since: { type: 'string', format: 'date-time' },
      way: { oneOf: [{ properties: { kind: { const: 'a' } } }] },
    },
  })
  for (const [key, { type, binds }] of Object.entries(fields))
    assert.deepEqual(binds, type === 'Password' ? undefined : ['token'], key)
})

test('a program gets values of the types that its specification asks for', () => {
  const cases: readonly [property: object, value: string | number | boolean, expected: string][] = [
    [{ type: 'integer' }, 5432, '5432'],
    [{ type: ['null', 'integer'], default: 5432 }, 5433, '5433'],
    [{ type: 'number' }, '1.5', '1.5'],
    [{ type: 'boolean' }, false, 'false'],
    [{ type: 'array', items: { type: 'string' } }, '["a"]', '["a"]'],
    [{ type: 'object' }, '{"id":12345678901234567890}', '{"id":12345678901234567890}'],
    [{ oneOf: [{ const: 1 }] }, '{"a":1}', '{"a":1}'],
    [{ const: 5 }, '5', '5'],
    [{ type: 'integer', enum: [1, 2] }, '2', '2'],
    [{ type: 'boolean', const: true }, 'true', 'true'],
    [{ type: 'string', const: 'oauth' }, 'oauth', '"oauth"'],
    [{ enum: ['a', null] }, 'a', '"a"'],
    [{ type: 'string', format: 'date' }, '2026-01-31', '"2026-01-31"'],
    [{ type: 'string', default: '7' }, '7', '"7"'],
    [{ type: 'integer', airbyte_secret: true }, '1234', '1234'],
    [{ type: 'object', properties: { deep: token } }, '{"deep":"x"}', '{"deep":"x"}'],
  ]
  for (const name of ['port', 'host', 'url', 'account'])
    for (const [property, value, expected] of cases)
      assert.equal(given({ token, [name]: property }, { [name]: value }), `{"${name}":${expected}}`)
})

test('a default is one of the choices, and a secret inside of lists and alternatives seals the whole field', () => {
  const { fields } = formOf({
    properties: {
      size: { type: 'integer', enum: [1, 2], default: 2 },
      list: { type: 'array', items: { type: 'object', properties: { key: token } } },
      way: { oneOf: [{ type: 'object', properties: { login: { type: 'object', properties: { key: token } } } }] },
    },
  })
  assert.equal(fields.size?.default, '2')
  assert.deepEqual([fields.list?.type, fields.way?.type], ['Password', 'Password'])
})
