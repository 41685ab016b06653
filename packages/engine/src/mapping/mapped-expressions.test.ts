import assert from 'node:assert/strict'
import { test } from 'node:test'
import { column, type Records, type Row } from '@penstock/connector'
import { digestOf } from './hash.ts'
import { createMapper, type Mapping, planMapping } from './mapping.ts'

/** Entries of a mapping that are expressions. */

const sha256 = (text: string) => digestOf('sha256', text)

function mapRows(records: Records | undefined, columns: readonly string[], rows: readonly Row[], mapping: Mapping) {
  const { plan, fieldErrors } = planMapping({ records, columns, mapping })
  assert.ok(plan, JSON.stringify(fieldErrors))
  const { rows: mapped, errors } = createMapper(plan)(rows)
  return {
    rows: mapped,
    reasons: Object.fromEntries([...errors].map(([at, { reason }]) => [at, reason])),
    fields: Object.fromEntries([...errors].map(([at, { field }]) => [at, field])),
  }
}

const identifiers: Records = {
  action: column({ description: 'What to do', required: true, values: ['add', 'remove'] }),
  email: column({ description: 'E-mail', normalise: 'email', hashed: ['sha256'], oneOf: 'identifier' }),
  phone: column({ description: 'Phone', normalise: 'phone-e164', hashed: ['sha256', 'md5'], oneOf: 'identifier' }),
}

test('A field takes what an expression makes of several columns, normalised and hashed like a column', () => {
  const { rows, reasons, fields } = mapRows(
    identifiers,
    ['name', 'host', 'country', 'number', 'gone'],
    [
      ['Ada', ' Example.com', 'DE', '0151 23456789', '1'],
      ['Bob', null, 'FR', 'x', ''],
      ['Eve', 'example.com', 'AT', '', 'no'],
    ],
    {
      action: { expression: 'bool(gone) ? "remove" : gone', default: 'add' },
      email: { expression: 'has(host) ? name + "@" + host.trim() : ""' },
      phone: { expression: 'has(number) ? "+49" + substring(number, 1) : null', default: '+4915199999999' },
    },
  )
  assert.deepEqual(rows[0], ['remove', sha256('ada@example.com'), sha256('+4915123456789')])
  // The phone number of the second row is unusable; so it has no identifier.
  assert.deepEqual(fields, { 1: 'phone', 2: 'action' })
  assert.match(reasons[2] ?? '', /^action must be one of add, remove/)
})

test('A row for which an expression has no value is rejected with the field and the place, and without its values', () => {
  const { reasons, fields, rows } = mapRows(
    undefined,
    ['amount', 'country'],
    [
      ['12,5', 'DE'],
      ['SECRET', 'DE'],
      [null, 'FR'],
    ],
    {
      total: { expression: 'round(number(amount, "comma") * 2, 0)' },
      where: { expression: 'lower(country)', values: { de: 'Germany' }, hash: 'md5' },
    },
  )
  assert.deepEqual(rows[0], [25, digestOf('md5', 'Germany')])
  assert.deepEqual(rows[2], [null, digestOf('md5', 'fr')])
  assert.deepEqual(fields, { 1: 'total' })
  assert.equal(reasons[1], 'total has no value: amount is not a number, at character 14')
})

test('Phone numbers are read by a country that an expression makes', () => {
  const records = {
    country: column({ description: 'Country', normalise: 'country' }),
    phone: column({ description: 'Phone', normalise: 'phone-e164' }),
  }
  const { rows } = mapRows(records, ['market', 'phone'], [['market-at', '0664 1234567']], {
    country: { expression: 'split(market, "-")[1]' },
  })
  assert.deepEqual(rows, [['at', '+436641234567']])
})
