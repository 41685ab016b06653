import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { connectors, listedConnectors } from '@penstock/connectors'
import { type ConnectorDefinition, type FieldDefinition, fieldIsRequired } from '@penstock/wire'
import { planMapping } from '../packages/engine/src/mapping/plan.ts'
import { callerOf, connectorBySlug, destination, source } from './harness/fixtures.ts'
import { startTests } from './harness/started.ts'

/** The definitions of connectors: all that a form and a mapping need, and no customer's values. */

const service = await startTests()
const caller = callerOf(service, await service.addOrganization())

const define = ({ id }: { id: string }) => caller.expect(caller.call('getConnectorDefinition', { id }))
const fieldsOf = ({ secretFields, source, destination }: ConnectorDefinition): FieldDefinition[] => [
  ...secretFields,
  ...(source?.fields ?? []),
  ...(destination?.fields ?? []),
]
const named = <T extends { name: string }>(entries: readonly T[], name: string): T =>
  entries.find((entry) => entry.name === name) ?? assert.fail(`no ${name}`)

describe('the definition of a connector', () => {
  test('says in which roles data moves', async () => {
    const events = connectorBySlug('mparticle-events')
    const { source: from, destination: to } = await define(events)
    assert.deepEqual([from?.integrated, to?.integrated], [undefined, undefined])
    const { destination: withdrawn } = await define(connectorBySlug('adikteev-custom-audience'))
    assert.equal(withdrawn?.integrated, false)
  })

  test('is there for every connector of the catalogue, with the fields, sides and records that it has', async () => {
    for (const connector of connectors) {
      const definition = await define(connector)
      assert.equal(definition.connectorId, connector.id)
      assert.deepEqual(
        [Boolean(definition.source), Boolean(definition.destination)],
        [Boolean(connector.source), Boolean(connector.destination)],
      )
      for (const [reported, { fields = {}, records = {} }] of [
        [{ fields: definition.secretFields, records: [] }, { fields: connector.secrets }],
        [definition.source, connector.source ?? {}],
        [definition.destination, connector.destination ?? {}],
      ] as const) {
        assert.deepEqual(
          (reported?.fields ?? []).map(({ name }) => name),
          Object.keys(fields),
          connector.slug,
        )
        assert.deepEqual(
          (reported?.records ?? []).map(({ name }) => name),
          Object.keys(records),
          connector.slug,
        )
      }
    }
  })

  test('says what a page of the connector shows: its API, its batches, its log, and whether it removes rows', async () => {
    for (const connector of connectors) {
      const { description, api, source: from, destination: to } = await define(connector)
      assert.deepEqual([description, api], [connector.description, connector.api ?? null])
      assert.equal(from?.changeLog, connector.source?.changeLog && true, connector.slug)
      assert.equal(to?.removes, connector.destination?.deliver?.removesBy && true, connector.slug)
      assert.equal(to?.audienceSizes, connector.destination?.deliver?.measureAudiences && true, connector.slug)
      assert.equal(to?.batch !== undefined, connector.destination?.deliver !== undefined, connector.slug)
    }
    const { source: changes, destination: rows } = await define(connectorBySlug('postgresql'))
    assert.deepEqual([changes?.changeLog, rows?.removes], [true, true])
    assert(rows?.batch && rows.batch.rowsMax > 0 && rows.batch.bytesMax > 0)
  })

  test('comes with the words of the connector, for each that can be added', async () => {
    const words = await caller.expect(caller.call('listConnectorWords', {}))
    assert.deepEqual(
      words.map(({ connectorId }) => connectorId),
      listedConnectors.map(({ id }) => id),
    )
    const { id, platform } = connectorBySlug('postgresql')
    assert.deepEqual(
      words.find(({ connectorId }) => connectorId === id),
      { connectorId: id, platform: 'PostgreSQL', kind: 'database', alsoCalled: platform.alsoCalled },
    )
  })

  test('says of a field what it depends on, and what counts while it is not set', async () => {
    const fields = fieldsOf(await define(destination))
    assert.deepEqual(named(fields, 'password').when, { authType: ['basic'] })
    assert.equal(named(fields, 'password').type, 'Password')
    for (const connector of connectors) {
      for (const field of fieldsOf(await define(connector))) {
        for (const other of Object.keys(field.when ?? {})) named(fieldsOf(await define(connector)), other)
        if (field.type === 'Password') assert.equal(field.default, undefined, `${connector.slug} ${field.name}`)
      }
    }
  })

  test('says of records in which form and under which names they are found, as the mapping finds them', async () => {
    const meta = connectorBySlug('meta-custom-audiences')
    const { destination: side } = await define(meta)
    const records = meta.destination?.records ?? assert.fail()
    let found = 0
    for (const { name, normalise, hashed, synonyms = [] } of side?.records ?? []) {
      assert.deepEqual([normalise, hashed ?? []], [records[name]?.normalise, records[name]?.hashed ?? []])
      const alone = {
        [name]: { description: '', required: true, ...records[name], oneOf: undefined, together: undefined },
      }
      for (const synonym of synonyms) {
        const { plan, fieldErrors } = planMapping({
          records: alone as never,
          columns: ['unrelated', synonym],
          mapping: undefined,
        })
        // People are asked about a column that says what is created or changed.
        if (records[name]?.addresses)
          assert.match(fieldErrors?.[0]?.message ?? '', new RegExp(`filled by ${synonym}, and`))
        else assert.equal(plan?.steps[0]?.column?.name, synonym, `${name} is not found by ${synonym}`)
        found++
      }
    }
    assert(found > 50, `only ${found} names`)
  })

  test('decides by the rule of the server which fields are required', async () => {
    const { id: accountId } = await caller.addAccountWithSides()
    const { secretFields } = await define(destination)
    const fields = Object.fromEntries(secretFields.map((field) => [field.name, field]))
    const required = (values: Record<string, string>) =>
      secretFields.filter(({ name }) => fieldIsRequired(fields, name, values) && !values[name]).map(({ name }) => name)
    for (const authType of named(secretFields, 'authType').options ?? []) {
      const { details } = await caller.call('configureConnector', {
        accountId,
        id: destination.id,
        body: { secretConfig: { authType } },
      })
      assert.deepEqual(
        details.map(({ field }) => field.replace('body.secretConfig.', '')),
        required({ authType }),
        authType,
      )
    }
  })

  test('is the same for every organization, and for one that has saved secrets', async () => {
    const { id: accountId } = await caller.addAccountWithSides()
    const blank = await caller.call('getConnectorDefinition', { id: source.id })
    await caller.configureSides(accountId)
    const saved = await caller.call('getConnectorDefinition', { id: source.id })
    const other = callerOf(service, await service.addOrganization())
    const theirs = await other.call('getConnectorDefinition', { id: source.id })
    assert.deepEqual([saved.text, theirs.text], [blank.text, blank.text])
    assert(!blank.text.includes('canary'))
  })
})
