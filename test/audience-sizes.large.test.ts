import assert from 'node:assert/strict'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import { loadConnector } from '@penstock/connectors/load'
import { sha256 } from '../packages/connectors/test/digest.ts'
import {
  type RedditServer,
  redditRoutes,
  redditSecrets,
  startReddit,
} from '../packages/connectors/test/reddit-server.ts'
import { evaluate } from '../packages/server/src/alerts/evaluate.ts'
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

/** The sizes of audiences that connections feed, asked of a platform once a day. */

const reddit = connectorBySlug('reddit-audiences')
const inbox = await makeInbox()
let api: RedditServer
let service: TestService
let caller: Caller
let accountId: string
let id: string
before(async () => {
  api = await startReddit()
  const runners = createInProcessRunners({ localFolders: [inbox.folder], loadConnector }, redditRoutes(api.url))
  service = await startTestService(inbox.env, {}, runners)
  caller = callerOf(service, await service.addOrganization())
  accountId = (await caller.addAccount()).id
  await addFolder(caller, accountId, inbox.folder)
  await caller.addConnectors(accountId, reddit)
  const configured = { accountId, id: reddit.id, body: { secretConfig: redditSecrets } }
  await caller.expect(caller.call('configureConnector', configured))
  await writeFile(
    join(inbox.folder, 'members.csv'),
    `segment_name,action,email_sha256\nLoyal,add,${sha256('jane@example.com')}\n`,
  )
  const body = {
    name: 'Members',
    srcConnectorId: localFolder.id,
    destConnectorId: reddit.id,
    srcConnectionConfig: { files: 'members.csv' },
    destConnectionConfig: { advertiserId: 'a2_loyal' },
  }
  id = (await caller.expect(caller.call('createConnection', { accountId, body }))).id
  await caller.expect(caller.call('updateConnectionStatus', { accountId, id, body: { action: 'activate' } }))
})
after(async () => {
  await service.close()
  await api.close()
  await inbox.remove()
})

const log = () => createLogger('info', { write: (line) => void service.logLines.push(line) })
const sql = async (text: string) => (await service.database.pool.query(text)).rows
const move = async (body: object = {}) => {
  const { id: transferId } = await caller.expect(caller.call('startTransfer', { accountId, id, body }))
  await workOnTransfers(engineOf(service), new Claims(noLimits), log(), new AbortController().signal)
  return caller.expect(caller.call('getTransfer', { accountId, id, transferId }))
}
const measure = async () => {
  await sql('update audience_checks set next_time = now()')
  const audiences = new Audiences(engineOf(service), log(), new AbortController().signal)
  await audiences.begin()
  await audiences.ended()
}
const state = async () => (await caller.expect(caller.call('getConnectionState', { accountId, id }))).audiences
const sized = (low: number, high: number) => ({
  json: {
    data: { id: api.audiences[0]?.id, name: 'Loyal', status: 'VALID', size_range_lower: low, size_range_upper: high },
  },
})
const oneAudience = /GET .*\/custom_audiences\/[\w.-]+$/

test('a test of a few rows has no audience measured', async () => {
  assert.equal(await state(), undefined)
  const moved = await move({ test: { rows: 1 } })
  assert.equal(moved.status, 'succeeded', JSON.stringify(moved.error))
  assert.equal(await state(), undefined)
})

test('the audiences of a connection are measured after a transfer, and each day has its measure', async () => {
  const moved = await move()
  assert.equal(moved.status, 'succeeded', JSON.stringify(moved.error))
  assert.deepEqual(await state(), { measuredTime: null, problem: null, found: [] })
  const [due] = await sql(
    `select next_time between now() + interval '50 minutes' and now() + interval '70 minutes' as ok from audience_checks`,
  )
  assert.equal(due?.ok, true)
  api.failure(oneAudience, sized(1_000, 5_000))
  await measure()
  // It was yesterday.
  await sql('update audience_measures set day = day - 1')
  const before = await state()
  assert.deepEqual(before?.found, [], 'a measure is sealed for its day')
  api.failure(oneAudience, sized(1_000, 5_000))
  await measure()
  api.failure(oneAudience, sized(5_000, 10_000))
  await measure()
  const { found = [], measuredTime, problem } = (await state()) ?? {}
  const day = new Date().toISOString().slice(0, 10)
  assert.deepEqual(found, [
    {
      id: api.audiences[0]?.id,
      name: 'Loyal',
      low: 5_000,
      high: 10_000,
      received: null,
      matched: null,
      status: 'VALID',
      days: [{ day, low: 5_000, high: 10_000, matched: null }],
    },
  ])
  assert.equal(problem, null)
  assert((measuredTime ?? 0) > 1_700_000_000)
  // Names of audiences come from rows.
  const [stored] = await sql("select string_agg(encode(sealed, 'escape'), ' ') as text from audience_measures")
  assert.doesNotMatch(stored?.text, /Loyal/)
})

test('the report of audiences has the first and the last measurement of a period', async () => {
  const report = async (query: object = {}) =>
    caller.expect(caller.call('reportAudiences', { accountId, query: { ...query } }))
  const today = new Date().toISOString().slice(0, 10)
  const daysAgo = (n: number) => new Date(Date.parse(today) - n * 86_400_000).toISOString().slice(0, 10)
  const audience = { id: api.audiences[0]?.id ?? '', name: 'Loyal', status: 'VALID', received: null, matched: null }
  const [state] = await sql('select data_key_id from connection_states')
  const key = await new DataKey(service.service.deps.keyring, state?.data_key_id, async () => {}).open(service.database)
  for (const [n, low] of [
    [9, 100],
    [3, 2_000],
    [2, 3_000],
  ] as const) {
    const sealed = sealJson(key, places.audiences(id, daysAgo(n)), [{ ...audience, low, high: low }])
    await sql(`insert into audience_measures values ('${id}', '${daysAgo(n)}', '\\x${sealed?.toString('hex')}')`)
  }
  const [found] = await report({ startDate: daysAgo(5) })
  const { received, matched, ...named } = audience
  const last = { day: today, low: 5_000, high: 10_000, received, matched }
  const first = { day: daysAgo(3), low: 2_000, high: 2_000, received, matched }
  assert.deepEqual([found?.connectionName, found?.audiences], ['Members', [{ ...named, first, last }]])
  const [ofToday] = await report({ startDate: today })
  assert.deepEqual(ofToday?.audiences, [{ ...named, first: null, last }])
  assert.deepEqual((await report({ startDate: daysAgo(30), endDate: daysAgo(20) }))[0]?.audiences, [])
  assert.deepEqual(await report({ q: 'no such connection' }), [])
  // A day that another key sealed is skipped.
  await sql(`update audience_measures set sealed = '\\x00' where day = '${daysAgo(3)}'`)
  assert.deepEqual((await report({ startDate: daysAgo(5) }))[0]?.audiences, [{ ...named, first: null, last }])
  await sql(`delete from audience_measures where day < '${today}'`)
})

test('an alert rule sees an audience that is too small', async () => {
  const conditions = { audienceBelow: 20_000 }
  await caller.expect(caller.call('createAlertRule', { body: { name: 'Small', accountId, conditions } }))
  await service.database.transaction((tx) => evaluate(tx))
  const open = await caller.expect(caller.call('listAlertIncidents', { query: { open: true } }))
  assert.deepEqual(
    open.map(({ reasons, connectionId }) => [reasons, connectionId]),
    [[['audience_small'], id]],
  )
  api.failure(oneAudience, sized(20_000, 30_000))
  await measure()
  await service.database.transaction((tx) => evaluate(tx))
  assert.deepEqual(await caller.expect(caller.call('listAlertIncidents', { query: { open: true } })), [])
})

test('a platform that cannot be asked is a problem of the measure alone, which keeps the last one', async () => {
  api.failure(oneAudience, { status: 403, json: {} })
  await measure()
  const { found = [], problem } = (await state()) ?? {}
  assert.match(problem ?? '', /Reddit/)
  assert.equal(found.length, 1)
  assert.equal((await caller.expect(caller.call('getConnection', { accountId, id }))).status, 'active')
  await measure()
  assert.equal((await state())?.problem, null)
})

test('nothing is asked for a connection that is disabled, and nothing is left of one that is gone', async () => {
  await caller.expect(caller.call('updateConnectionStatus', { accountId, id, body: { action: 'disable' } }))
  const asked = api.received.length
  await measure()
  assert.equal(api.received.length, asked)
  await sql(`delete from transfers`)
  await sql(`delete from connections`)
  assert.deepEqual(await sql('select from audience_checks union all select from audience_measures'), [])
})
