import assert from 'node:assert/strict'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import type { Json } from '@penstock/connector'
import { loadConnector } from '@penstock/connectors/load'
import { type EventType, eventSchema } from '@penstock/wire'
import { Ajv } from 'ajv'
import {
  type CriteoServer,
  criteoRoutes,
  criteoSecrets,
  startCriteo,
} from '../packages/connectors/test/criteo-server.ts'
import { sha256 } from '../packages/connectors/test/digest.ts'
import { announce } from '../packages/server/src/alerts/announce.ts'
import { evaluate } from '../packages/server/src/alerts/evaluate.ts'
import { mailOf, slackBodyOf, teamsBodyOf } from '../packages/server/src/alerts/forms.ts'
import { messageOf } from '../packages/server/src/alerts/messages.ts'
import { createLogger } from '../packages/server/src/log.ts'
import { DataKey } from '../packages/server/src/secrets/data-keys.ts'
import { places, sealJson } from '../packages/server/src/transfers/sealed.ts'
import { Audiences } from '../packages/server/src/transfers/supervisor/audiences.ts'
import { Claims } from '../packages/server/src/transfers/supervisor/claim.ts'
import { workOnTransfers } from '../packages/server/src/transfers/supervisor/work.ts'
import { addFolder, localFolder, makeInbox } from './harness/connections.ts'
import { engineOf } from './harness/engine-of.ts'
import { type Caller, callerOf, connectorBySlug } from './harness/fixtures.ts'
import { createInProcessRunners } from './harness/in-process-runners.ts'
import { startTestService, type TestService } from './harness/service.ts'
import { noLimits } from './harness/supervision.ts'

/** The share of an audience that a platform matches: alerts if it falls, and the event of each measure. */

const criteo = connectorBySlug('criteo-commerce-growth-audiences')
const inbox = await makeInbox()
let api: CriteoServer
let service: TestService
let caller: Caller
let accountId: string
let id: string
const log = createLogger('info', { write: (line) => void service.logLines.push(line) })
const sql = async (text: string, ...values: unknown[]) => (await service.database.pool.query(text, values)).rows

before(async () => {
  api = await startCriteo()
  const runners = createInProcessRunners({ localFolders: [inbox.folder], loadConnector }, criteoRoutes(api.url))
  service = await startTestService(inbox.env, {}, runners)
  const organization = await service.addOrganization()
  caller = callerOf(service, organization)
  accountId = (await caller.addAccount()).id
  await addFolder(caller, accountId, inbox.folder)
  await caller.addConnectors(accountId, criteo)
  const configured = { accountId, id: criteo.id, body: { secretConfig: criteoSecrets } }
  await caller.expect(caller.call('configureConnector', configured))
  await writeFile(
    join(inbox.folder, 'members.csv'),
    `segment_name,action,email\nLoyal,add,${sha256('jane@example.com')}\n`,
  )
  const body = {
    name: 'Members',
    srcConnectorId: localFolder.id,
    destConnectorId: criteo.id,
    srcConnectionConfig: { files: 'members.csv' },
    destConnectionConfig: { advertiserId: '77' },
  }
  id = (await caller.expect(caller.call('createConnection', { accountId, body }))).id
  await caller.expect(caller.call('updateConnectionStatus', { accountId, id, body: { action: 'activate' } }))
  const { id: transferId } = await caller.expect(caller.call('startTransfer', { accountId, id, body: {} }))
  await workOnTransfers(engineOf(service), new Claims(noLimits), log, new AbortController().signal)
  const moved = await caller.expect(caller.call('getTransfer', { accountId, id, transferId }))
  assert.equal(moved.status, 'succeeded', JSON.stringify(moved.error))
  await sql(
    `insert into webhooks (id, organization_id, url, description, enabled, data_key_id, secret_sealed)
     values ('webhook', $1, 'https://example.com/', '', true, 'none', '')`,
    organization.organizationId,
  )
  const conditions = { matchFellPercent: 20 }
  await caller.expect(
    caller.call('createAlertRule', {
      body: { name: 'Match', accountId, conditions, slackUrl: 'https://hooks.example.com/1' },
    }),
  )
})
after(async () => {
  await service.close()
  await api.close()
  await inbox.remove()
})

const statistics = (numberOfIdentifiers: number, numberOfMatches: number | null) => ({
  json: {
    data: {
      id: api.segments[0]?.id,
      type: 'ContactListStatistics',
      attributes: { numberOfIdentifiers, numberOfMatches },
    },
  },
})
/** Measures as the platform says it today, and evaluates the rules. */
const measure = async (received: number, matched: number | null) => {
  api.failure(/GET .*contact-list\/statistics$/, statistics(received, matched))
  await sql('update audience_checks set next_time = now()')
  const audiences = new Audiences(engineOf(service), log, new AbortController().signal)
  await audiences.begin()
  await audiences.ended()
  const [{ problem }] = await sql('select problem from audience_checks')
  assert.equal(problem, null)
  await service.database.transaction((tx) => evaluate(tx))
}
/** Stores a measure, sealed, as it was some days ago. */
const measured = async (daysAgo: number, received: number, matched: number) => {
  const [{ key_id: keyId, day }] = await sql(
    `select data_key_id as key_id, to_char((now() at time zone 'utc')::date - $1::integer, 'YYYY-MM-DD') as day
     from connection_states`,
    daysAgo,
  )
  const key = await new DataKey(service.service.deps.keyring, keyId, async () => {}).open(service.database)
  const of = { id: api.segments[0]?.id, name: 'Loyal', low: matched, high: matched, received, matched, status: null }
  const sealed = sealJson(key, places.audiences(id, day), [of] as unknown as Json)
  await sql('insert into audience_measures (connection_id, day, sealed) values ($1, $2, $3)', id, day, sealed)
}
const incidents = (open: boolean) => caller.expect(caller.call('listAlertIncidents', { query: { open } }))
const events = async (type: EventType) => {
  const rows = await sql(
    'select e.payload from webhook_deliveries d join events e on e.id = d.event_id where e.type = $1 order by d.number',
    type,
  )
  return rows.map(({ payload }) => JSON.parse(payload))
}

test('a match rate with fewer than three measures in the 7 days before is compared with nothing', async () => {
  await measured(1, 1_000, 610)
  await measured(3, 1_000, 590)
  await measured(8, 1_000, 990)
  await measure(1_000, 100)
  assert.deepEqual(await incidents(true), [])
})

test('an incident begins if the match rate is lower than the average by as much as the rule says', async () => {
  await measured(7, 500, 300)
  await measure(2_000, 962)
  assert.deepEqual(await incidents(true), [])
  await measure(2_000, 900)
  const numbers = ['The platform matched 45% of the people, 25% less than the average of 60% in the 7 days before.']
  const [incident, ...others] = await incidents(true)
  assert(incident && others.length === 0)
  assert.deepEqual([incident.reasons, incident.numbers, incident.connectionId], [['match_fell'], numbers, id])

  await service.database.transaction((tx) =>
    announce(tx, { catalogue: service.service.deps.catalogue, mailIsSetUp: false }),
  )
  const [{ content }] = await sql('select content from alert_deliveries')
  const message = messageOf(content, 'https://penstock.example.com')
  assert.equal(message.title, 'The platform matches fewer people of an audience than before: “Members” in “Account”')
  for (const text of [mailOf(message).text, slackBodyOf(message), teamsBodyOf(message)]) {
    assert(text.includes(numbers[0] ?? ''), text)
    // Names of audiences come from rows.
    assert(!text.includes('Loyal'), text)
  }
  const [event] = await events('alert.opened')
  assert.deepEqual([event.data.reasons, event.data.numbers], [['match_fell'], numbers])
})

test('it ends once the match rate is less far below, or the platform does not say it any more', async () => {
  await measure(2_000, 1_000)
  assert.deepEqual(await incidents(true), [])
  assert.deepEqual(
    (await incidents(false)).map(({ reasons, resolution }) => [reasons, resolution]),
    [[['match_fell'], 'recovered']],
  )
  await measure(2_000, 100)
  assert.equal((await incidents(true)).length, 1)
  await measure(2_000, null)
  assert.deepEqual(await incidents(true), [])
})

test('measures that cannot be opened are skipped', async () => {
  await sql(`update audience_measures set sealed = '\\x00' where day = (now() at time zone 'utc')::date - 7`)
  await measure(2_000, 100)
  assert.deepEqual(await incidents(true), [])
})

test('each measure is an event, without names', async () => {
  const measures = await events('audience.measured')
  const isValid = new Ajv({ strict: false }).compile(eventSchema('audience.measured'))
  for (const event of measures) assert(isValid(event), JSON.stringify(isValid.errors))
  const { data, ...of } = measures[1] ?? {}
  assert.deepEqual([of.accountId, of.connectionId], [accountId, id])
  assert.deepEqual(data.audiences, [
    { id: api.segments[0]?.id, low: 962, high: 962, received: 2_000, matched: 962, status: null },
  ])
  assert.doesNotMatch(JSON.stringify(measures), /Loyal/)
})
