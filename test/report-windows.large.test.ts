import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { addDays, todayIn } from '../packages/connectors/src/kit/report-days.ts'
import { startEngine, withSides } from './harness/engine.ts'
import { connectorBySlug } from './harness/fixtures.ts'
import { createInProcessRunners } from './harness/in-process-runners.ts'
import { assertInvariants } from './harness/invariants.ts'
import { reportKey, reportSides, startReportPlatform } from './harness/report-platform.ts'
import type { ReportWorker } from './harness/report-worker.ts'
import { localFolder, postgresql, postgresqlSecrets } from './harness/transfers.ts'
import { bounded, until } from './harness/until.ts'

/** Reports of a platform in a table of PostgreSQL: restated days, rows that vanish, accounts that are refused, and a kill. */

const daysAgo = (count: number) => addDays(todayIn('UTC'), -count)

async function prepare(t: TestContext, settings: Record<string, string | number>) {
  const engine = await startEngine()
  t.after(() => engine.close())
  const platform = await startReportPlatform()
  t.after(() => platform.close())
  Object.assign(engine.sides, reportSides(platform.url, settings))
  await engine.target.query(
    'create table reports (day date, account text, campaign text, clicks int, primary key (day, account, campaign))',
  )
  const writing = { table: 'reports', writeMode: 'Upsert', keyColumns: reportKey }
  const connectionId = await engine.connect(localFolder, { files: 'any.csv' }, postgresql, writing)
  const kept = async (where = 'true') =>
    (
      await engine.target.query(
        `select day::text || ' ' || account || ' ' || campaign || ' ' || clicks as row from reports where ${where} order by 1`,
      )
    ).rows.map(({ row }) => String(row))
  return { engine, platform, connectionId, kept }
}

/** The rows that the platform has of some days, as the table has them. */
const rowsOf = (
  figures: (account: string, day: string) => Readonly<Record<string, number>>,
  accounts: readonly string[],
  days: number,
) =>
  accounts
    .flatMap((account) =>
      Array.from({ length: days }, (_, index) => daysAgo(index)).flatMap((day) =>
        Object.entries(figures(account, day)).map(([campaign, clicks]) => `${day} ${account} ${campaign} ${clicks}`),
      ),
    )
    .sort()

test('a platform that restates its days has each row once in the table, and none that it does not report any more', async (t) => {
  const settings = { accountIds: '100,101,900', startDate: daysAgo(9), lookBackDays: 5 }
  const { engine, platform, connectionId, kept } = await prepare(t, settings)
  const before = (account: string, day: string) => ({ a: Number(day.slice(-2)), [`of ${account}`]: 1, vanishes: 3 })
  platform.figures = before
  const first = await engine.move(connectionId)
  // Two accounts have 10 days of three campaigns, and one account is refused.
  assert.deepEqual([first.status, first.records.accepted, first.records.rejected], ['partial', 60, 1])
  assert.deepEqual(await kept(), rowsOf(before, ['100', '101'], 10))
  const { caller, accountId } = engine
  const of = { accountId, id: connectionId, transferId: first.id }
  const [rejected] = await caller.expect(caller.call('listRejects', of))
  assert.match(rejected?.reason ?? '', /^The account 900 of Example was not read\./)

  // Of the last five days, one campaign is gone, one has other figures, and yesterday one account has nothing.
  const yesterday = daysAgo(1)
  const now = (account: string, day: string): Record<string, number> =>
    account === '100' && day === yesterday ? {} : { a: 500 + Number(day.slice(-2)), [`of ${account}`]: 1 }
  platform.figures = now
  const second = await engine.move(connectionId)
  assert.equal(second.status, 'partial')
  const old = daysAgo(5)
  assert.deepEqual(await kept(`day > '${old}'`), rowsOf(now, ['100', '101'], 5))
  assert.deepEqual(
    await kept(`day <= '${old}'`),
    rowsOf(before, ['100', '101'], 10).filter((row) => row.slice(0, 10) <= old),
  )
  await assertInvariants(engine.service.database.pool)
})

test('a list without days replaces the rows of its account alone', async (t) => {
  const { engine, platform } = await prepare(t, { accountIds: '100' })
  Object.assign(engine.sides, reportSides(platform.url, { accountIds: '100' }, 'campaigns'))
  await engine.target.query(
    'create table campaigns (account text, campaign text, clicks int, primary key (account, campaign))',
  )
  await engine.target.query(`insert into campaigns values ('100', 'old', 1), ('999', 'other', 1)`)
  const writing = { table: 'campaigns', writeMode: 'Upsert', keyColumns: 'account,campaign' }
  const connectionId = await engine.connect(localFolder, { files: 'any.csv' }, postgresql, writing)
  const kept = async () =>
    (await engine.target.query('select account, campaign, clicks from campaigns order by 1, 2')).rows.map((row) =>
      Object.values(row).join(' '),
    )
  platform.figures = () => ({ a: 1, b: 2, c: 3, d: 4, e: 5 })
  assert.equal((await engine.move(connectionId)).status, 'succeeded')
  assert.deepEqual(await kept(), ['100 a 1', '100 b 2', '100 c 3', '100 d 4', '100 e 5', '999 other 1'])
  platform.figures = () => ({ a: 7, e: 5 })
  assert.equal((await engine.move(connectionId)).status, 'succeeded')
  assert.deepEqual(await kept(), ['100 a 7', '100 e 5', '999 other 1'])
  await assertInvariants(engine.service.database.pool)
})

/** Starts a process that works, and kills it after it has started this number of reports. */
async function killWorker(
  { engine, platform }: Awaited<ReturnType<typeof prepare>>,
  settings: Record<string, string | number>,
  reads: ReportWorker['reads'],
  reportsMin: number,
): Promise<void> {
  const begun = platform.started.length
  const { databaseUrl, config } = engine.service
  const options: ReportWorker = {
    databaseUrl,
    masterKey: config.masterKey?.key.export().toString('base64') ?? '',
    platformUrl: platform.url,
    settings,
    reads,
  }
  const script = join(import.meta.dirname, 'harness', 'report-worker.ts')
  const child = spawn(process.execPath, [script, JSON.stringify(options)], { stdio: ['ignore', 'ignore', 'pipe'] })
  let log = ''
  child.stderr.on('data', (text) => {
    log += String(text)
  })
  const ended = once(child, 'exit')
  await until('reports are started', () => {
    assert.equal(child.exitCode, null, log)
    return platform.started.length >= begun + reportsMin
  })
  child.kill('SIGKILL')
  await ended
}

/** Finds what a process that is gone has left. */
async function requeue(
  { engine }: Awaited<ReturnType<typeof prepare>>,
  isQueued: () => Promise<boolean>,
): Promise<void> {
  const stop = new AbortController()
  await engine.sql(`update transfer_parts set heartbeat_time = now() - interval '1 minute' where status = 'running'`)
  const upkeep = engine.keepUp(stop.signal)
  await until('it is queued again', isQueued)
  stop.abort()
  await bounded('the upkeep ends', upkeep, 60_000)
}

test('a process that is killed in mid-report is continued by another one, which finds the report again', async (t) => {
  const accountIds = ['100', '101', '102']
  const settings = { accountIds: accountIds.join(','), startDate: daysAgo(19), lookBackDays: 20 }
  const prepared = await prepare(t, settings)
  const { engine, platform, connectionId, kept } = prepared
  const figures = (account: string, day: string) => ({ a: Number(day.slice(-2)), b: Number(account), c: 3 })
  platform.figures = (account, day) => ({ ...figures(account, day), vanishes: 1 })
  assert.equal((await engine.move(connectionId)).status, 'succeeded')
  platform.figures = figures
  const begun = platform.started.length
  const { id } = await engine.start(connectionId)
  await killWorker(prepared, settings, 'reports', 10)
  await requeue(prepared, async () => (await engine.get(connectionId, id)).status === 'queued')
  await engine.work()
  const transfer = await engine.get(connectionId, id)
  assert.equal(transfer.status, 'succeeded')
  assert.deepEqual([transfer.attempt, transfer.records.read], [2, 3 * 20 * 3])
  assert.deepEqual(await kept(), rowsOf(figures, accountIds, 20))
  const reports = platform.started.slice(begun)
  // A report whose ID was not stored yet is started again: one at most.
  assert.ok(reports.length - new Set(reports).size <= 1, reports.join('\n'))
  await assertInvariants(engine.service.database.pool)
})

test('workers share reports by their days, also if one is killed, and the next transfer continues behind all', async (t) => {
  const accounts = ['100', '101', '102']
  const settings = { accountIds: `${accounts.join(',')},900`, startDate: daysAgo(39), lookBackDays: 5 }
  const prepared = await prepare(t, settings)
  const { engine, platform, connectionId, kept } = prepared
  Object.assign(engine.sides, reportSides(platform.url, settings, 'parts'))
  const figures = (account: string, day: string) => ({ a: Number(day.slice(-2)), b: Number(account), c: 3 })
  platform.figures = (account, day) => ({ ...figures(account, day), vanishes: 1 })
  const { id } = await engine.start(connectionId)
  await killWorker(prepared, settings, 'parts', 8)
  const running = async () => engine.sql(`select from transfer_parts where transfer_id = $1 and status = 'running'`, id)
  await requeue(prepared, async () => (await running()).length === 0)
  await Promise.all([engine.work(), engine.work()])
  const first = await engine.get(connectionId, id)
  const rows = accounts.length * 40 * 4
  assert.deepEqual([first.status, first.records.accepted, first.records.rejected], ['partial', rows, 1])
  assert.deepEqual(await kept(), rowsOf(platform.figures, accounts, 40))
  const parts = await engine.sql<{ read: number }>('select read::int from transfer_parts where transfer_id = $1', id)
  assert.deepEqual([parts.length, parts.every(({ read }) => read > 50)], [3, true], JSON.stringify(parts))
  const reports = platform.started.splice(0)
  assert.ok(reports.length - new Set(reports).size <= 1, reports.join('\n'))

  // The next transfer reads the last days of each account, and windows delete what vanished.
  platform.figures = figures
  const second = await engine.move(connectionId)
  // The account that was never read has more days than the others, and so is refused in two parts.
  assert.deepEqual([second.status, second.records.rejected], ['partial', 2])
  const read = platform.started.map((report) => report.split(' ')[1] ?? '')
  assert.equal(read.sort()[0], daysAgo(4), platform.started.join('\n'))
  assert.deepEqual(await kept(`day > '${daysAgo(5)}'`), rowsOf(figures, accounts, 5))
  assert.equal((await kept(`campaign = 'vanishes'`)).length, accounts.length * 35)
  await assertInvariants(engine.service.database.pool)
})

test('a preview says why rows would stay that vanish, and which key columns the report needs', async (t) => {
  const reading = { accountIds: '100' }
  const { engine, platform } = await prepare(t, reading)
  platform.figures = () => ({ a: 1 })
  const found = async (writing: Record<string, string>, settings: Record<string, string> = reading) => {
    const sides = reportSides(platform.url, settings)
    const runners = createInProcessRunners({
      localFolders: [],
      loadConnector: async (slug) => withSides(connectorBySlug(slug), sides),
    })
    const source = { slug: 'local-folder', secrets: {}, settings: {} }
    const secrets = postgresqlSecrets(engine.targetUrl)
    const destination = { slug: 'postgresql', secrets, settings: { table: 'reports', ...writing } }
    const times = { noAnswerMs: 20_000, inspectionMs: 20_000, deadlineMs: 60_000 }
    const result = await runners.run(
      { kind: 'preview', source, destination, unmapped: false, showing: 'masked', ...times },
      { owner: 'test', watch: {}, signal: new AbortController().signal },
    )
    await runners.close()
    assert(result.ok && result.value && 'preview' in result.value, JSON.stringify(result))
    return result.value.preview.findings
      .filter(({ code }) => code === 'vanished_rows_stay')
      .map(({ message }) => message.replace(/^Records that .* does not report any more stay at the destination: /, ''))
  }
  const upsert = { writeMode: 'Upsert', keyColumns: reportKey }
  const needed = ['choose Update by key (Upsert), with the key columns day, account, campaign.']
  assert.deepEqual(await found(upsert), [])
  assert.deepEqual(await found({ writeMode: 'Insert' }), needed)
  assert.deepEqual(await found({ ...upsert, keyColumns: 'day,account' }), needed)
  assert.deepEqual(await found({ writeMode: 'Insert' }, { ...reading, vanishedRows: 'Keep' }), [])
  const mapping = JSON.stringify({ day: 'day', campaign: 'campaign', clicks: 'clicks' })
  assert.deepEqual(await found({ ...upsert, mapping }), [
    'no column gets account, by which rows differ: map one to it.',
  ])
})
