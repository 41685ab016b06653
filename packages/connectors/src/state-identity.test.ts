import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { changedIdentity, type FieldDefinition, type Fields, fieldsOfRole, identifiesState } from '@penstock/connector'
import { connectors } from './index.ts'

/** Every setting of every connector: either it belongs to what a state describes, or its definition says why it does not. */

/** Two values that a field accepts. */
function twoValues({ type, options = [], min = 0, default: preset }: FieldDefinition) {
  const others = options.filter((option) => option !== preset)
  if (type === 'Boolean') return [preset !== true, preset === true] as const
  if (type === 'Number') return [min + 1, min + 2] as const
  if (type === 'Multi-Select') return [options.slice(0, 1), options.slice(1, 2)] as const
  if (type === 'Select') return [others[0] ?? '', options.find((option) => option !== others[0])] as const
  return type === 'Date' ? (['2026-01-01', '2026-01-02'] as const) : (['one', 'two'] as const)
}

/** Values with which a field counts. */
function valuesFor(fields: Fields, key: string): Record<string, string> {
  const wanted = Object.entries(fields[key]?.when ?? {})
  return Object.fromEntries(
    wanted.flatMap(([other, values]) => [
      ...Object.entries(valuesFor(fields, other)),
      [other, [values].flat()[0] ?? ''] as const,
    ]),
  )
}

const groupsOf = (connector: (typeof connectors)[number]): [string, Fields][] => [
  ['configuration', connector.secrets],
  ...(['Source', 'Destination'] as const).map((role): [string, Fields] => [role, fieldsOfRole(connector, role)]),
]

describe('the settings that a state belongs to', () => {
  test('are all settings of all connectors, unless the definition says why not', () => {
    for (const connector of connectors)
      for (const [group, fields] of groupsOf(connector))
        for (const [key, field] of Object.entries(fields)) {
          const about = `${connector.slug} ${group} ${key}`
          const [one, two] = twoValues(field)
          if (two === undefined) continue
          const base = valuesFor(fields, key)
          const changed = changedIdentity(fields, { ...base, [key]: one }, { ...base, [key]: two })
          const isExempt = field.type === 'Password' || field.readonly || field.keepsState !== undefined
          assert.equal(changed.includes(key), !isExempt, about)
          assert.deepEqual(changedIdentity(fields, { ...base, [key]: one }, { ...base, [key]: one }), [], about)
        }
  })

  test('are places and selections, and not ways, rates and credentials', () => {
    const places =
      /^(host|hostname|port|database|address|endpoint|shop|pod|subdomain|schema|table|sqlQuery|spreadsheet|sheet|bucketUri|blobUri|prefix|path|files|filesToRead|stream|topic|objectName|objectType|markerColumn|accountIds?|adAccountId|advertiserId|audienceId|audienceName|listId|level|preset|metrics|breakdowns|filter|outputPath|subfolder|folder|keyColumns|dataset|projectId|slot|publication|syncMode|writeMode|startDate)$/
    const ways =
      /(timeout|perRequest|gzip|compression|^encryption$|^user$|username|clientId|accessKeyId|authType|tlsMode|caCertificate|lookBack|lagSeconds|resultWait|roleArn)/i
    for (const connector of connectors)
      for (const [group, fields] of groupsOf(connector))
        for (const [key, field] of Object.entries(fields)) {
          const about = `${connector.slug} ${group} ${key}`
          if (field.type === 'Password') assert(!identifiesState(field), about)
          // No connection reads an event stream that is in Kafka, so that it has no state.
          else if (places.test(key) && !field.readonly && !('store' in (field.when ?? {})))
            assert(identifiesState(field), about)
          else if (ways.test(key)) assert(!identifiesState(field), about)
        }
  })

  test('count by their effect: a default is the same as nothing, and a value without effect is none', () => {
    const fields = connectors.find(({ slug }) => slug === 'postgresql')?.source?.fields ?? {}
    assert.deepEqual(changedIdentity(fields, { table: 'a' }, { table: 'a', schema: 'public' }), [])
    assert.deepEqual(changedIdentity(fields, { table: 'a' }, { table: 'a', sqlQuery: 'select 1' }), [])
    assert.deepEqual(changedIdentity(fields, { table: 'a' }, { table: 'a', schema: 'other' }), ['schema'])
  })
})
