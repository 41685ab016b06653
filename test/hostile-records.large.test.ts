import assert from 'node:assert/strict'
import { test } from 'node:test'
import { limits } from '@penstock/wire'
import { addAccountWithConnection, addEndedTransfer } from './harness/connections.ts'
import { callerOf } from './harness/fixtures.ts'
import { startTestsWithInbox } from './harness/started.ts'

/** The longest answers: rejected records with long names of columns, connections with long settings, long changes. */

const emails = Array.from({ length: 300 }, (_, n) => `jane.${n}@example.com`)
const names = Array.from({ length: 1_000 }, (_, n) => `${n}`.padEnd(1_000, 'x'))

const { service, inbox } = await startTestsWithInbox()
const organization = await service.addOrganization()
const token = organization.token
const caller = callerOf(service, organization)

test('an answer with rejected records has a bounded length, however long the names of their columns are', async () => {
  const connection = await addAccountWithConnection(caller, inbox.folder)
  const transferId = await addEndedTransfer(service, caller, connection, emails, names)
  const listed = await caller.call('listRejects', { ...connection, transferId, query: { size: 500 } })
  assert.equal(listed.status, 200)
  assert.deepEqual(
    listed.response.map(({ row }) => row),
    emails.map((_, n) => n + 2),
  )
  assert(listed.text.length < 2 * limits.rejectsAnswerLengthMax, `${listed.text.length} characters`)
  const found = await caller.call('findDataSubject', { body: { values: ['example.com'] } })
  assert.equal(found.status, 200)
  assert(found.text.length < 4 * limits.rejectsAnswerLengthMax, `${found.text.length} characters`)
})

test('pages of rejected records show all values that fit, and a search for a person continues until it has found all', async () => {
  const connection = await addAccountWithConnection(caller, inbox.folder)
  const wide = names.slice(0, 60)
  const transferId = await addEndedTransfer(service, caller, connection, emails, wide)
  const shown = async (size: number, offset: number) => {
    const page = await caller.expect(caller.call('listRejects', { ...connection, transferId, query: { size, offset } }))
    return page.map(({ record }) => record.email)
  }
  assert.deepEqual([...(await shown(100, 0)), ...(await shown(100, 100)), ...(await shown(100, 200))], emails)
  const all = await shown(300, 0)
  assert.deepEqual([all.length, all[0], all[299]], [300, emails[0], undefined])

  const rows = new Set<number | null>()
  let cursor: string | null = null
  let parts = 0
  do {
    const body = { values: ['example.com'], ...(cursor === null ? {} : { cursor }) }
    const { accountId } = connection
    const part: { records: { row: number | null }[]; next: string | null } = await caller.expect(
      caller.call('findDataSubject', { accountId, body }),
    )
    for (const { row } of part.records) rows.add(row)
    cursor = part.next
    parts++
  } while (cursor !== null)
  assert.deepEqual([rows.size, parts > 1], [emails.length, true])
})

/** Half a MiB, and more than a kilobyte after compression. */
const long = Array.from({ length: 60_000 }, (_, n) => n.toString(36).padEnd(8, 'x')).join(' ')

test('a page that is too long is refused, and a smaller one is answered', async () => {
  const { accountId, id } = await addAccountWithConnection(caller, inbox.folder)
  const { pool } = service.database
  await pool.query(
    `insert into connections
       (id, organization_id, account_id, name, status, src_connector_id, dest_connector_id, src_configuration_id,
        dest_configuration_id, src_config, dest_config, env)
     select substr(md5(n::text), 1, 16), organization_id, account_id, name || n, 'In-progress', src_connector_id, dest_connector_id,
       src_configuration_id, dest_configuration_id, (select jsonb_object_agg(at, substr($2, at * 10000, 10000)) from generate_series(1, 50) at), dest_config, env
     from connections, generate_series(1, 100) n where id = $1`,
    [id, long],
  )
  const page = (size: number) => caller.call('listConnectionDetails', { accountId, query: { size } })
  const { status, error } = await page(500)
  assert.deepEqual([status, error], [422, 'answer_too_large'])
  assert.equal((await page(20)).status, 200)
})

test('the audit log of long changes can be read as a stream', async () => {
  const names = Array.from({ length: 80 }, (_, n) => `Account ${n}`)
  for (const name of names) await caller.addAccount(name)
  await service.service.settleAudit()
  const { pool } = service.database
  await pool.query(`update audit_events set after = jsonb_build_object('name', after -> 'name', 'long', $1::text)`, [
    long,
  ])
  const page = await caller.call('listAudit', { query: { size: 500 } })
  assert.deepEqual([page.status, page.error], [422, 'answer_too_large'])
  const headers = { authorization: `Bearer ${token}`, accept: 'application/x-ndjson' }
  const { status, text } = await service.send({ method: 'GET', path: '/es/v2/audit?action=addAccount', headers })
  assert.equal(status, 200)
  const read = text.split('\n').flatMap((line) => (line === '' ? [] : [JSON.parse(line).after.name]))
  for (const name of names) assert(read.includes(name), name)
})
