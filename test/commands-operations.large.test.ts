import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { generateMasterKey } from '../packages/server/src/secrets/seal.ts'
import { type Commands, commandsOn } from './harness/commands.ts'
import {
  addAccountWithConnection,
  addConnection,
  addEndedTransfer,
  addParts,
  type Connection,
  type Inbox,
  makeInbox,
} from './harness/connections.ts'
import { type Caller, callerOf } from './harness/fixtures.ts'
import { assertInvariants } from './harness/invariants.ts'
import { prepareStage, type Stage } from './harness/process.ts'
import { startTestService, type TestService } from './harness/service.ts'
import { claimed, ended, queuedAgain } from './harness/standings.ts'

/** `penstock transfer` and the figures and limits in `penstock org`: what an operator sees and does across organizations. */

let inbox: Inbox
let service: TestService
let commands: Commands
let finishStage: (() => unknown) | undefined
let one: Caller
let organizationId: string
const masterKey = generateMasterKey()
before(async () => {
  inbox = await makeInbox()
  service = await startTestService({ ...inbox.env, PENSTOCK_MASTER_KEY: masterKey })
  const stage: Stage = await prepareStage({
    after: (work) => {
      finishStage = work as () => unknown
    },
  })
  commands = commandsOn(stage, { DATABASE_URL: service.databaseUrl, PENSTOCK_MASTER_KEY: masterKey })
  const organization = await service.addOrganization()
  organizationId = organization.organizationId
  one = callerOf(service, organization)
})
after(async () => {
  await assertInvariants(service.database.pool)
  await service.close()
  await finishStage?.()
  await inbox.remove()
})

const sql = async (text: string, ...values: unknown[]) => (await service.database.pool.query(text, values)).rows
const start = async (caller: Caller, { accountId, id }: Connection) =>
  (await caller.expect(caller.call('startTransfer', { accountId, id, body: {} }))).id
/** As a worker has it that claimed it. */
const run = (id: string, worker: string, heartbeat = '1 second') =>
  sql(claimed('id = $1', { worker: '$2', heartbeat: 'now() - $3::interval' }), id, worker, heartbeat)
const cancelled = (id: string) => sql(ended('cancelled'), id)

type Listed = {
  transferId: string
  organizationId: string
  status: string
  worker: string | null
  heartbeatSeconds: number | null
  waitsFor: string | null
}
const list = (...options: string[]) => commands.json<Listed[]>('transfer', 'list', ...options)
const idsOf = (rows: readonly Listed[]) => rows.map(({ transferId }) => transferId).sort()

describe('penstock transfer', () => {
  test('lists the active transfers of all organizations, and those of each filter', async () => {
    assert.equal(await commands.done('transfer', 'list'), 'There are no such transfers.\n')
    const other = callerOf(service, await service.addOrganization())
    const first = await addAccountWithConnection(one, inbox.folder)
    const second = await addConnection(one, first.accountId)
    const third = await addAccountWithConnection(other, inbox.folder)
    const running = await start(one, first)
    const queued = await start(one, second)
    const ofOther = await start(other, third)
    await run(running, 'host-a:1')
    await run(ofOther, 'host-b:2', '1 hour')
    await sql(`update transfers set created_time = now() - interval '3 hours' where id = $1`, queued)
    const ended = await addEndedTransfer(service, other, await addConnection(other, third.accountId))

    assert.deepEqual(idsOf(await list()), [running, queued, ofOther].sort())
    for (const [options, expected] of [
      [
        ['--organization', organizationId],
        [running, queued],
      ],
      [['--account', third.accountId], [ofOther]],
      [['--connection', second.id], [queued]],
      [['--worker', 'host-a:1'], [running]],
      [['--status', 'queued'], [queued]],
      [['--status', 'partial'], [ended]],
      [
        ['--status', 'all'],
        [running, queued, ofOther, ended],
      ],
      [
        ['--status', 'running', 'partial'],
        [running, ofOther, ended],
      ],
      [['--status', 'retrying'], []],
      [['--older-than', '2h'], [queued]],
      [['--organization', 'nowhere'], []],
      [['--limit', '1'], [ofOther]],
    ] as const) {
      assert.deepEqual(idsOf(await list(...options)), [...expected].sort(), options.join(' '))
    }
    const rows = new Map((await list()).map((row) => [row.transferId, row]))
    assert.equal(rows.get(queued)?.waitsFor, 'a free worker')
    assert.equal(rows.get(running)?.waitsFor, null)
    assert.deepEqual([rows.get(running)?.worker, (rows.get(running)?.heartbeatSeconds ?? 0) >= 1], ['host-a:1', true])
    assert.match(rows.get(ofOther)?.waitsFor ?? '', /^another worker: no heartbeat for 36\d\d seconds$/)
    await sql(`update transfers set error_code = 'timeout', error_message = 'slow' where id = $1`, running)
    assert.deepEqual(idsOf(await list('--status', 'retrying')), [running])
    assert.equal((await list('--status', 'retrying'))[0]?.waitsFor, 'the next try after timeout')
    assert.match(
      await commands.done('transfer', 'list'),
      /^transferId +organizationId +accountId +connectionId +status +trigger +attempt +worker +heartbeatSeconds +read +accepted +rejected +createdTime +waitsFor\n/,
    )
    await commands.done('org', 'limit', organizationId, 'transfers', '1')
    assert.equal((await list('--status', 'queued'))[0]?.waitsFor, 'a place of its organization: 1 of 1 transfers run')
    await commands.done('org', 'limit', organizationId, 'transfers', 'default')
    for (const id of [running, queued, ofOther]) await cancelled(id)
  })

  test('shows a transfer with its parts', async () => {
    const connection = await addAccountWithConnection(one, inbox.folder)
    const id = await addEndedTransfer(service, one, connection)
    await addParts(service, id, 2)
    type Shown = Listed & { parts: { number: number; status: string }[]; connection: string }
    const shown = await commands.json<Shown>('transfer', 'show', id)
    assert.deepEqual([shown.transferId, shown.connection, shown.status], [id, 'Orders', 'partial'])
    assert.deepEqual(
      shown.parts.map(({ number, status }) => [number, status]),
      [
        [1, 'succeeded'],
        [2, 'succeeded'],
      ],
    )
    assert.match(await commands.done('transfer', 'show', id), /^transferId +\w{16}\n[\s\S]*\npart 1: status succeeded/)
    for (const call of ['show', 'cancel']) {
      assert.match(
        await commands.fails(1, 'transfer', call, 'none'),
        /The transfer none does not exist\. penstock transfer list/,
      )
    }
  })

  test('cancels what waits, runs, has parts or is tried again; repeats change nothing, and the audit log has one event', async () => {
    const queued = await start(one, await addAccountWithConnection(one, inbox.folder))
    const running = await start(one, await addAccountWithConnection(one, inbox.folder))
    const retrying = await start(one, await addAccountWithConnection(one, inbox.folder))
    const divided = await start(one, await addAccountWithConnection(one, inbox.folder))
    await run(running, 'host-a:1')
    await run(retrying, 'host-a:1')
    await sql(queuedAgain(), retrying)
    await run(divided, 'host-a:1')
    await sql(`update transfer_parts set status = 'queued', share = 0.5 where transfer_id = $1`, divided)
    await sql(`insert into transfer_parts (transfer_id, number, share, status) values ($1, 2, 0.5, 'queued')`, divided)
    await sql(`update transfers set parts = 2 where id = $1`, divided)
    type Cancelled = { transferId: string; status: string; changed: boolean }
    const cancel = (id: string) => commands.json<Cancelled>('transfer', 'cancel', id)
    assert.deepEqual(await cancel(queued), { transferId: queued, status: 'cancelled', changed: true })
    for (const [id, status] of [
      [running, 'running'],
      [retrying, 'queued'],
      [divided, 'running'],
    ] as const) {
      assert.deepEqual(await cancel(id), { transferId: id, status, changed: true })
      assert.deepEqual(await cancel(id), { transferId: id, status, changed: false })
    }
    assert.match(await commands.done('transfer', 'cancel', queued), /^Transfer \w+ is cancelled\.\n$/)
    assert.match(await commands.done('transfer', 'cancel', running), /^Transfer \w+ is being cancelled already\.\n$/)
    const waits = (await list('--organization', organizationId)).map(({ waitsFor }) => waitsFor)
    assert.deepEqual(waits.sort(), ['a worker that ends it', 'the end of its batch', 'the end of its batch'])
    const printed = await commands.done('audit', 'export', '--organization', organizationId)
    const events = printed
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line))
      .filter(({ action }) => action === 'transfer cancel')
    assert.deepEqual(events.map(({ targetId }) => targetId).sort(), [queued, running, retrying, divided].sort())
    for (const { actor } of events) assert.equal(actor.kind, 'operator')
    const ended = await addEndedTransfer(service, one, await addAccountWithConnection(one, inbox.folder))
    assert.match(
      await commands.fails(1, 'transfer', 'cancel', ended),
      /has ended and cannot be cancelled: its status is partial/,
    )
    await sql(`delete from transfer_parts where transfer_id = $1 and number = 2`, divided)
    await sql(`update transfers set parts = 1 where id = $1`, divided)
    for (const id of [running, retrying, divided]) await cancelled(id)
  })

  test('says what is wrong with an option', async () => {
    assert.match(
      await commands.fails(2, 'transfer', 'list', '--status', 'lost'),
      /The status lost does not exist\. Choose one of queued, /,
    )
    assert.match(
      await commands.fails(2, 'transfer', 'list', '--older-than', '2 years'),
      /--older-than must be a number/,
    )
    assert.match(await commands.fails(2, 'transfer', 'list', '--limit', '0'), /--limit must be a whole number from 1/)
  })
})

describe('penstock org', () => {
  test('shows the figures of an organization and of all, and its limits', async () => {
    const organization = await service.addOrganization()
    const caller = callerOf(service, organization)
    const connection = await addAccountWithConnection(caller, inbox.folder)
    await addEndedTransfer(service, caller, connection)
    await start(caller, connection)
    await sql(`update transfers set kept_bytes = 17 where connection_id = $1 and status = 'partial'`, connection.id)
    const body = new TextEncoder().encode('a,b\n1,2\n')
    await caller.expect(
      caller.call('createUpload', { accountId: connection.accountId, query: { name: 'a.csv' }, body }),
    )
    const id = organization.organizationId
    // biome-ignore lint/suspicious/noExplicitAny: what a program reads
    const shown = await commands.json<any>('organization', 'show', id)
    assert.deepEqual(
      [shown.organizationId, shown.accounts, shown.connections.active, shown.transfers, shown.rowsThisMonth],
      [id, 1, 1, { running: 0, queued: 1 }, 1],
    )
    assert.deepEqual([shown.uploads, shown.bytes.uploads, shown.bytes.rejects], [1, 8, 17])
    assert(shown.bytes.logs > 0)
    const limit = (name: string) => shown.limits.find((each: { limit: string }) => each.limit === name)
    assert.deepEqual([limit('accounts').value, limit('accounts').own], [10_000, false])
    // biome-ignore lint/suspicious/noExplicitAny: what a program reads
    const all = await commands.json<any[]>('org', 'list', '--figures')
    const { limits: _, ...figures } = shown
    assert.deepEqual(
      all.find((each) => each.organizationId === id),
      figures,
    )
    assert.match(await commands.done('org', 'list', '--figures'), /^organizationId +name +accounts +schedules/)
    assert.match(
      await commands.done('org', 'show', id),
      /limit accounts +10000 +sub-accounts \(PENSTOCK_QUOTA_ACCOUNTS\)/,
    )
    assert.match(
      await commands.fails(1, 'org', 'show', 'none'),
      /The organization none does not exist\. penstock org list/,
    )
  })

  test('sets a limit, which counts at once, and takes it back', async () => {
    const organization = await service.addOrganization()
    const caller = callerOf(service, organization)
    const id = organization.organizationId
    const set = (value: string) => commands.json<{ changed: boolean }>('org', 'limit', id, 'accounts', value)
    assert.equal((await set('1')).changed, true)
    assert.equal((await set('1')).changed, false)
    await caller.addAccount()
    const refused = await caller.call('addAccount', { body: { name: 'Another' } })
    assert.deepEqual([refused.status, refused.error], [409, 'quota_exceeded'])
    assert.match(
      refused.details[0]?.message ?? '',
      /the quota is 1 sub-accounts .*`org limit accounts` of Penstock sets it/,
    )
    assert.equal((await set('default')).changed, true)
    assert.equal((await caller.call('addAccount', { body: { name: 'Another' } })).status, 201)
    assert.match(
      await commands.fails(2, 'org', 'limit', id, 'wishes', '1'),
      /The limit wishes does not exist\. Choose one of accounts, /,
    )
    assert.match(await commands.fails(2, 'org', 'limit', id, 'accounts', '0'), /must be a whole number from 1 to/)
    assert.match(await commands.fails(2, 'org', 'limit', id, 'accounts', 'many'), /must be a whole number from 1 to/)
    assert.match(
      await commands.fails(1, 'org', 'limit', 'none', 'accounts', '1'),
      /The organization none does not exist/,
    )
  })
})
