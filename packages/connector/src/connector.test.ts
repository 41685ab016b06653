import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { describe, test } from 'node:test'
import { type DataTypeCategory, dataTypeCategories } from '@penstock/wire'
import { incompatibilities } from './compatible.ts'
import { type ConnectorDefinition, defineConnector, definePlatform } from './connector.ts'
import { date, type Fields, multiSelect, number, secret, select, text } from './fields.ts'

const about = { label: 'Label', description: 'Description' }
const platform = definePlatform({ slug: 'acme', name: 'Acme', type: 'Data Provider' })
const definition: ConnectorDefinition = {
  slug: 'acme-audiences',
  name: 'Acme Audiences',
  platform,
  dataType: 'audiences',
  description: 'Delivers to Acme.',
  dataTypeCategory: 'audience activation',
  secrets: {},
  destination: {},
}

describe('defineConnector', () => {
  test('derives the identifiers from the slugs and the roles from the ends', () => {
    const digest = (of: string) => createHash('sha256').update(of).digest('hex').slice(0, 16)
    const { id, platformId, roles, supportedType, integrated, ...rest } = defineConnector(definition)
    assert.deepEqual([id, platformId], [digest('connector:acme-audiences'), digest('platform:acme')])
    assert.deepEqual([roles, supportedType, rest], [['Destination'], 'Destination', definition])
    assert.equal(integrated, false)
    assert.equal(defineConnector({ ...definition, source: {} }).supportedType, 'Source, Destination')
    const { destination, ...sourceOnly } = { ...definition, source: {} }
    assert.equal(defineConnector(sourceOnly).supportedType, 'Source')
  })

  test('refuses a connector without any role', () => {
    const { destination, ...neither } = definition
    assert.throws(
      () => defineConnector(neither),
      /^Error: acme-audiences: a connector needs a source or a destination$/,
    )
  })

  test('refuses fields that break a rule, in every group', () => {
    const choice = select({ ...about, options: ['a', 'b'] })
    const wrong: [Fields, RegExp][] = [
      ...[
        'clientSecret',
        'password',
        'privateKeyPem',
        'accessToken',
        'apiKey',
        'secretAccessKey',
        'jsonKey',
        'sasUrl',
        'passphrase',
        'serviceAccountKey',
      ].map((key): [Fields, RegExp] => [{ [key]: text(about) }, /sounds secret and must be a secret field/]),
      [{ a: select({ ...about, options: [] }) }, /field a needs options/],
      [{ a: multiSelect({ ...about, options: [] }) }, /field a needs options/],
      [{ a: select({ ...about, options: ['a'], default: 'c' }) }, /field a has a default that must be one of: a/],
      [
        { a: multiSelect({ ...about, options: ['a'], default: ['a', 'c'] }) },
        /default that must be a list of any of: a/,
      ],
      [{ a: number({ ...about, min: 1, max: 5, default: 6 }) }, /default that must be at most 5/],
      [{ a: date({ ...about, default: '2026-02-30' }) }, /default that must be a calendar day/],
      [{ a: number({ ...about, min: 5, max: 1 }) }, /min above its max/],
      [{ a: text({ ...about, required: true, readonly: true }) }, /a caller cannot be required to send it/],
      [{ a: select({ ...about, options: ['x'], when: { a: 'x' } }) }, /depends on a, which is not a choice/],
      [
        { a: text({ ...about, when: { b: 'x' } }), b: multiSelect({ ...about, options: ['x'] }) },
        /depends on b, which/,
      ],
      [{ a: text({ ...about, when: { b: 'a' } }), choice }, /depends on b, which is not a choice/],
      [{ a: text({ ...about, when: { b: 'a' } }), b: text(about) }, /depends on b, which is not a choice/],
      [
        { a: text({ ...about, when: { choice: ['a', 'c'] } }), choice },
        /depends on choice being c, which is not one of its options/,
      ],
      [{ a: text({ ...about, binds: ['b'] }) }, /field a binds b, which is not a secret of the same group/],
      [{ a: text({ ...about, binds: ['constructor'] }) }, /field a binds constructor, which is not a secret/],
      [{ a: text({ ...about, binds: ['b'] }), b: text(about) }, /field a binds b, which is not a secret/],
      [{ a: secret({ ...about, binds: ['b'] }), b: secret(about) }, /field a binds secrets, but is a secret itself/],
      ...['host', 'hostname', 'port', 'url', 'apiUrl', 'endpoint', 'snowflakeHost', 'bucketUri', 'server'].map(
        (key): [Fields, RegExp] => [
          { [key]: text(about), b: secret(about) },
          new RegExp(`field ${key} sounds like a destination and must name in binds which secrets are sent there`),
        ],
      ),
    ]
    for (const [group, message] of wrong) {
      assert.throws(() => defineConnector({ ...definition, secrets: group }), message)
      assert.throws(() => defineConnector({ ...definition, destination: { fields: group } }), message)
      assert.throws(() => defineConnector({ ...definition, source: { fields: group } }), message)
    }
    assert.doesNotThrow(() =>
      defineConnector({ ...definition, secrets: { tokenUrl: text(about), accessKeyId: text(about) } }),
    )
    const bound = { host: text({ ...about, binds: ['password'] }), port: number({ ...about, binds: ['password'] }) }
    assert.doesNotThrow(() => defineConnector({ ...definition, secrets: { ...bound, password: secret(about) } }))
  })

  test('refuses a slug that is not lowercase words joined by hyphens, and a role on a field of a side', () => {
    for (const slug of ['', 'Acme', 'acme_audiences', 'acme--audiences', '-acme']) {
      assert.throws(() => defineConnector({ ...definition, slug }), /lowercase words joined by hyphens/)
    }
    const fields = { folder: text({ ...about, role: 'Source' }) }
    assert.throws(() => defineConnector({ ...definition, source: { fields } }), /folder names a role/)
  })

  test('refuses a secret among the fields of a connection, which are stored in the clear', () => {
    const fields = { folder: text(about), pass: secret(about) }
    for (const role of ['source', 'destination']) {
      assert.throws(() => defineConnector({ ...definition, [role]: { fields } }), /pass is a secret/)
    }
    assert.doesNotThrow(() => defineConnector({ ...definition, secrets: fields }))
  })
})

describe('incompatibilities', () => {
  const side = (dataTypeCategory: DataTypeCategory, sides: Partial<ConnectorDefinition>) => {
    const { destination, ...rest } = definition
    return defineConnector({ ...rest, name: dataTypeCategory, dataTypeCategory, ...sides })
  }

  test('pairs equal categories, data stores with everything, and identity management with audience activation', () => {
    for (const from of dataTypeCategories) {
      for (const to of dataTypeCategories) {
        const fits =
          from === to ||
          [from, to].includes('data store') ||
          `${from} > ${to}` === 'identity management > audience activation'
        const reasons = incompatibilities(side(from, { source: {} }), side(to, { destination: {} }))
        assert.deepEqual(reasons, fits ? [] : [`${from} data cannot go to ${to}`])
      }
    }
  })

  test('lists every reason', () => {
    const source = side('reporting', { source: {} })
    const destination = side('events', { destination: {} })
    assert.deepEqual(incompatibilities(destination, source), [
      'events cannot be a source',
      'reporting cannot be a destination',
      'events data cannot go to reporting',
    ])
  })

  test('lets a connector with both roles feed itself', () => {
    const both = side('audience activation', { source: {}, destination: {} })
    assert.deepEqual(incompatibilities(both, both), [])
  })
})
