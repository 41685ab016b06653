import assert from 'node:assert/strict'
import { createWriteStream } from 'node:fs'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { finished } from 'node:stream/promises'
import { after, before, describe, test } from 'node:test'
import { setTimeout as delay } from 'node:timers/promises'
import { seed } from './harness/seed.ts'
import { type Fixture, localFolder, postgresql, startFixture } from './harness/transfers.ts'
import { isActive, startProcessFixture } from './harness/worker-processes.ts'
import { seeded } from './simulation/random.ts'

/** Control groups of connections (docs/audiences.md). Their members are computed by PostgreSQL, as a data team does it. */

/** The statement of the guide. */
const isControl = (key: string, salt: string, percent: number) =>
  `('x' || left(encode(sha256(convert_to('${salt}|' || ${key}, 'UTF8')), 'hex'), 12))::bit(48)::bigint * 100 < ${percent} * 281474976710656`

const held = (controlPercent: number, controlSalt = '') => ({
  controlGroup: 'LeaveOut',
  controlKey: 'id',
  controlPercent,
  ...(controlSalt && { controlSalt }),
})
const mirrorTo = (table: string) => ({ table, writeMode: 'Upsert', keyColumns: 'id', sendRows: 'Mirror' })

/** Assertions about a table that has everyone of `everyone` except the control group. */
const assertExact = async ({ target }: Pick<Fixture, 'target'>, table: string, control: string) => {
  const { rows } = await target.query(
    `select count(*)::int as count from (
       (select id, name from everyone where not ${control} except all select id, name from ${table})
       union all (select id, name from ${table} except all select id, name from everyone where not ${control})
     ) as differing`,
  )
  assert.deepEqual(rows, [{ count: 0 }])
}

describe('a control group', () => {
  let fixture: Fixture
  before(async () => {
    fixture = await startFixture()
    await fixture.startWorker()
  })
  after(() => fixture.close())

  const move = async (id: string, body: object = {}) => {
    const ended = await fixture.ended(id, (await fixture.start(id, body)).id)
    assert.equal(ended.status, 'succeeded', ended.error?.message)
    const { records, skipped, removed } = ended
    const left = skipped.filtered + skipped.unchanged + skipped.duplicates + skipped.noConsent + skipped.controlGroup
    assert.equal(records.read, records.accepted + records.rejected + left)
    return { read: records.read, sent: records.sent, held: skipped.controlGroup, removed }
  }
  const configure = (id: string, destConnectionConfig: Record<string, string | number>) =>
    fixture.caller.expect(
      fixture.caller.call('updateConnection', { accountId: fixture.accountId, id, body: { destConnectionConfig } }),
    )

  test('is exact over a year of daily changes: who leaves or moves to it is removed at a mirror', async () => {
    const random = seeded(seed)
    await fixture.target.query(`drop table if exists everyone; create table everyone (id text primary key, name text)`)
    await fixture.target.query(`create table reached (id text primary key, name text)`)
    await fixture.target.query(`insert into everyone select 'p' || n, 'name' from generate_series(1, 300) as n`)
    let [percent, salt] = [5, 'spring']
    const from = { table: 'everyone', syncMode: 'Full' }
    const id = await fixture.connect(postgresql, from, postgresql, { ...mirrorTo('reached'), ...held(percent, salt) })
    const ever = new Map<string, boolean>()
    for (let day = 1; day <= 365; day++) {
      const person = () => `p${1 + random.int(400)}`
      for (let n = random.int(6); n > 0; n--) {
        await fixture.target.query('delete from everyone where id = $1', [person()])
        await fixture.target.query(
          'insert into everyone values ($1, $2) on conflict (id) do update set name = excluded.name',
          [person(), `day ${day}`],
        )
      }
      if (day % 60 === 0) {
        // A greater share adds people; another salt chooses others.
        if (day === 240) salt = 'autumn'
        else percent += 5
        await configure(id, { ...mirrorTo('reached'), ...held(percent, salt) })
        ever.clear()
      }
      await move(id)
      await assertExact(fixture, 'reached', isControl('id', salt, percent))
      const { rows } = await fixture.target.query(
        `select id, ${isControl('id', salt, percent)} as control from everyone`,
      )
      for (const { id: key, control } of rows) {
        assert.equal(ever.get(key) ?? control, control, `${key} is always in the same group`)
        ever.set(key, control)
      }
    }
  })

  test('of a million people is held back, grows, and can be sent to a table', async () => {
    const file = createWriteStream(join(fixture.folder, 'million.csv'))
    file.write('id,name\n')
    for (let from = 0; from < 1_000_000; from += 10_000) {
      file.write(Array.from({ length: 10_000 }, (_, n) => `${from + n},name ${n}\n`).join(''))
    }
    file.end()
    await finished(file)
    await fixture.target.query(`drop table if exists everyone; create table everyone (id int, name text)`)
    await fixture.target.query(
      `insert into everyone select n, 'name ' || n % 10000 from generate_series(0, 999999) as n`,
    )
    await fixture.target.query('create table audience (id int primary key, name text)')
    await fixture.target.query('create table control (id int, name text)')
    const from = { files: 'million.csv' }
    const sized = async (percent: number): Promise<number> =>
      (await fixture.target.query(`select count(*)::int as n from everyone where ${isControl('id', '', percent)}`))
        .rows[0].n
    const [ten, twelve] = [await sized(10), await sized(12)]
    const id = await fixture.connect(localFolder, from, postgresql, { ...mirrorTo('audience'), ...held(10) })
    assert.deepEqual(await move(id), { read: 1_000_000, sent: 1_000_000 - ten, held: ten, removed: 0 })
    await assertExact(fixture, 'audience', isControl('id', '', 10))
    await configure(id, { ...mirrorTo('audience'), ...held(12) })
    const added = twelve - ten
    assert.deepEqual(await move(id), { read: 1_000_000 + added, sent: added, held: twelve, removed: added })
    await assertExact(fixture, 'audience', isControl('id', '', 12))
    const only = { table: 'control', writeMode: 'Insert', ...held(12), controlGroup: 'Only' }
    const group = await fixture.connect(localFolder, from, postgresql, only)
    assert.deepEqual(await move(group), { read: 1_000_000, sent: twelve, held: 0, removed: 0 })
    await assertExact(fixture, 'control', `not ${isControl('id', '', 12)}`)
  })

  test('is in previews, which say what is wrong with its key', async () => {
    await writeFile(
      join(fixture.folder, 'few.csv'),
      `id,name\n${Array.from({ length: 50 }, (_, n) => `${n},x\n`).join('')}`,
    )
    await fixture.target.query('create table few (id int primary key, name text)')
    const settings = { table: 'few', writeMode: 'Upsert', keyColumns: 'id' }
    const id = await fixture.connect(localFolder, { files: 'few.csv' }, postgresql, { ...settings, ...held(20) })
    const preview = (destConnectionConfig: object) =>
      fixture.caller.call('previewConnection', {
        accountId: fixture.accountId,
        id,
        body: { destConnectionConfig } as never,
      })
    const { rows, controlGroup } = await fixture.caller.expect(preview({}))
    assert(controlGroup > 0)
    assert.equal(rows.length + controlGroup, 50)
    const refused = await preview({ controlKey: 'customer' })
    assert.match(JSON.stringify(refused), /names the column customer, which is not in the source/)
    const bad = await preview({ controlPercent: 51 })
    assert.match(JSON.stringify(bad), /controlPercent/)
  })
})

test(`after kills of workers, a mirror has everyone except the control group (PENSTOCK_TEST_SEED=${seed})`, async (t) => {
  const fixture = await startProcessFixture(t)
  const random = seeded(seed)
  await fixture.target.query('create table everyone (id text primary key, name text)')
  await fixture.target.query(`insert into everyone select n::text, 'name' from generate_series(1, 20000) as n`)
  await fixture.target.query('create table reached (id text primary key, name text)')
  const from = { table: 'everyone', syncMode: 'Full' }
  const id = await fixture.connect(postgresql, from, postgresql, { ...mirrorTo('reached'), ...held(5) })
  let worker = fixture.spawnWorker()
  for (const percent of [5, 15, 8]) {
    const destConnectionConfig = { ...mirrorTo('reached'), ...held(percent) }
    await fixture.caller.expect(
      fixture.caller.call('updateConnection', { accountId: fixture.accountId, id, body: { destConnectionConfig } }),
    )
    await fixture.target.query(`update everyone set name = 'share ${percent}' where right(id, 1) = '3'`)
    await fixture.target.query(`delete from everyone where right(id, 2) = '${percent + 10}'`)
    const { id: transferId } = await fixture.start(id)
    for (let kill = 0; kill < 2; kill++) {
      const standing = await fixture.standing(transferId)
      if (!isActive(standing)) break
      await fixture.claimed(transferId, standing.attempt)
      await delay(random.int(400))
      worker.signal('SIGKILL')
      await worker.ended
      worker = fixture.spawnWorker()
    }
    assert.equal((await fixture.ended(id, transferId)).status, 'succeeded')
    await assertExact(fixture, 'reached', isControl('id', '', percent))
  }
})
