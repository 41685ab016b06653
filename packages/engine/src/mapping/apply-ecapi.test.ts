import assert from 'node:assert/strict'
import { test } from 'node:test'
import { type Connector, column, type Ecapi, type Row } from '@penstock/connector'
import { applyEcapi } from './apply-ecapi.ts'
import { digestOf } from './hash.ts'
import { createMapper, planMapping } from './mapping.ts'

const sha256 = (text: string) => digestOf('sha256', text)
const records = {
  name: column({ description: 'Name of the event' }),
  kind: column({ description: 'Its kind' }),
  place: column({ description: 'Where' }),
  at: column({ description: 'When' }),
  email: column({ description: 'E-mail', normalise: 'email', hashed: ['sha256'] }),
  phone: column({ description: 'Phone', normalise: 'phone-digits', hashed: ['sha256'] }),
  gender: column({ description: 'Gender', normalise: 'gender', hashed: ['sha256'] }),
  street: column({ description: 'Street' }),
  city: column({ description: 'City' }),
  items: column({ description: 'Items' }),
  user_data: column({ description: 'Object of the platform' }),
  consent: column({ description: 'Kind of consent' }),
}
const ecapi: Ecapi = {
  columns: {
    name: { from: 'event_type', values: { purchase: 'Bought' } },
    kind: { from: 'event_type', values: { page_view: 'view' }, others: 'custom' },
    place: { from: 'source', values: { website: 'web' }, others: null },
    at: 'timestamp',
    email: 'user_data.email_address',
    phone: 'user_data.phone_numbers',
    gender: 'user_data.gender',
    street: 'user_data.address.street',
    city: 'user_data.address.city',
    items: 'properties.items',
    consent: { from: 'user_data.gpp_string', fixed: 'GPP' },
  },
}
const connector = { name: 'Shop Ads', destination: { records, ecapi } } as unknown as Connector

function mapped(columns: readonly string[], ...rows: readonly Row[]) {
  const applied = applyEcapi(connector, columns) ?? assert.fail()
  const { plan, fieldErrors } = planMapping({ records, columns, mapping: applied.mapping })
  assert.ok(plan, JSON.stringify(fieldErrors))
  const { rows: cells, errors } = createMapper(plan)(rows)
  const names = plan.columns ?? assert.fail()
  return {
    ...applied,
    rows: cells.map((row, at) =>
      errors.has(at) ? errors.get(at)?.field : Object.fromEntries(names.map((name, i) => [name, row[i]])),
    ),
  }
}
const user = (of: object) => JSON.stringify(of)
const without = (row: object | string | undefined) =>
  Object.fromEntries(Object.entries(row ?? {}).filter(([, cell]) => cell !== null && cell !== ''))

test('fields are found by their path, inside JSON, and by the last part of the path', () => {
  const expected = {
    name: 'Bought',
    kind: 'custom',
    place: 'web',
    at: '1746558464',
    email: sha256('a@example.com'),
    city: 'bonn',
  }
  const flat = mapped(
    ['Event Type', 'timestamp', 'source', 'email_address', 'city'],
    ['purchase', '1746558464', 'website', 'a@example.com', 'bonn'],
  )
  assert.deepEqual(without(flat.rows[0]), expected)
  const paths = mapped(
    ['event_type', 'timestamp', 'source', 'user_data.email_address', 'user_data.address'],
    ['purchase', '1746558464', 'website', '["a@example.com","b@example.com"]', '[{"city":"bonn"},{"city":"x"}]'],
  )
  assert.deepEqual(without(paths.rows[0]), expected)
  const json = (of: object) =>
    mapped(['event_type', 'timestamp', 'source', 'user_data'], ['PURCHASE', '1746558464', 'website', user(of)])
  const inJson = { ...expected, consent: 'GPP' }
  assert.deepEqual(without(json({ email_address: ['a@example.com'], address: [{ city: 'bonn' }] }).rows[0]), inJson)
  // The examples of the standard have these names.
  assert.deepEqual(without(json({ email_addresses: ['a@example.com'], addresses: [{ city: 'bonn' }] }).rows[0]), inJson)
  assert.deepEqual(without(json({}).rows[0]), {
    name: 'Bought',
    kind: 'custom',
    place: 'web',
    at: '1746558464',
    consent: 'GPP',
  })
})

test('types, places, genders and hashes become what the destination takes', () => {
  const columns = ['event_type', 'custom_event', 'timestamp', 'source', 'user_data', 'properties']
  const of = (type: string, source: string, person: object, properties: object = {}) =>
    mapped(columns, [type, 'Ours', '1', source, user(person), JSON.stringify(properties)]).rows[0]
  assert.deepEqual(without(of('custom', 'chat', {})), { name: 'Ours', kind: 'custom', at: '1', consent: 'GPP' })
  assert.deepEqual(without(of('page_view', 'website', {})), {
    name: 'page_view',
    kind: 'view',
    place: 'web',
    at: '1',
    consent: 'GPP',
  })
  const person = without(
    of('login', 'chat', {
      gender: sha256('female'),
      phone_numbers: [sha256('+12125550000')],
      address: [{ street: sha256('1 main st') }],
    }),
  )
  assert.equal(person.gender, sha256('f'))
  assert.equal(person.phone, undefined)
  assert.equal(person.street, undefined)
  const plain = without(
    of('login', 'chat', { gender: 'Male', phone_numbers: ['+1 212 555 0000'], address: [{ street: '1 Main St' }] }),
  )
  assert.deepEqual([plain.gender, plain.phone, plain.street], [sha256('m'), sha256('12125550000'), '1 Main St'])
  const { items } = without(of('login', 'chat', {}, { items: [{ id: 'a', price: 1.5 }] }))
  assert.deepEqual(JSON.parse(String(items)), [{ id: 'a', price: 1.5 }])
})

test('JSON that cannot be read rejects the row, and an object of the platform’s name is not sent', () => {
  const broken = mapped(['event_type', 'timestamp', 'user_data'], ['purchase', '1', '{"email_address"'])
  assert.equal(broken.rows[0], 'email')
  assert.equal(broken.mapping.user_data, null)
})

test('what is lost is named by the columns of the source, and what is missing by the columns of the destination', () => {
  const { losses, findings } = mapped([
    'event_type',
    'user_data.age_range',
    'user_data.mmt_only',
    'user_data.phone_numbers',
    'source',
    'id',
    'data_set_id',
    'properties',
  ])
  assert.deepEqual(
    findings.map(({ field }) => field),
    ['at'],
  )
  const said = Object.fromEntries(losses.map(({ column: name, message }) => [name, message]))
  assert.equal(said['user_data.age_range'], 'Shop Ads does not accept it.')
  assert.match(said['user_data.mmt_only'] ?? '', /Filter the rows: !bool\(row\["user_data\.mmt_only"\]\)\.$/)
  assert.match(said['user_data.phone_numbers'] ?? '', /without “\+”/)
  assert.match(said.source ?? '', /^These places arrive without a place: email, app/)
  assert.match(said.id ?? '', /repeated events/)
  assert.match(said.data_set_id ?? '', /filter/)
  assert.match(said.properties ?? '', /^Shop Ads does not accept properties\.transaction_id, /)
  assert.match(said.event_type ?? '', /arrive as custom events under their own names: page_view/)
})
