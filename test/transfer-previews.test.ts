import assert from 'node:assert/strict'
import { createHmac, randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { readdir, writeFile } from 'node:fs/promises'
import { createServer as createHttpServer } from 'node:http'
import { type AddressInfo, createServer } from 'node:net'
import { join } from 'node:path'
import { after, before, describe, test } from 'node:test'
import { createEgress } from '@penstock/connector/egress'
import { loadConnector } from '@penstock/connectors/load'
import type { TransferError } from '@penstock/wire'
import { runJob } from '../packages/engine/src/jobs.ts'
import type { SecretHost } from '../packages/engine/src/protocol.ts'
import { connectorBySlug } from './harness/fixtures.ts'
import { type Fixture, localFolder, postgresql, postgresqlSecrets, startFixture } from './harness/transfers.ts'

/** Previews of the data that a transfer would send. No worker runs. */

let fixture: Fixture
before(async () => {
  fixture = await startFixture()
})
after(() => fixture.close())

/** A port that nothing listens on. */
async function closedPort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  server.close()
  await once(server, 'close')
  return port
}

let files = 0
/** A file of the folder with these lines. Returns its name. */
async function addFile(...lines: string[]): Promise<string> {
  const name = `rows-${++files}.csv`
  await writeFile(join(fixture.folder, name), `${lines.join('\n')}\n`)
  return name
}

/** A connection from a new file to a table that does not exist and is never opened. */
async function addConnection(...lines: string[]) {
  const config = { table: 'nowhere', writeMode: 'Insert' }
  const id = await fixture.connect(localFolder, { files: await addFile(...lines) }, postgresql, config)
  return { id, path: { accountId: fixture.accountId, id } }
}

describe('a preview', () => {
  const preview = (id: string, body = {}) =>
    fixture.caller.call('previewConnection', { accountId: fixture.accountId, id, body })

  test('shows the mapped rows shortened, what would be rejected, and what the values are like; it sends nothing', async () => {
    const file = await addFile(
      'E-Mail,Plan,Extra',
      'ada.lovelace@example.com,basic,1',
      '  GRACE@EXAMPLE.COM ,"large, yearly",2',
      'ragged,row',
      ',none,4',
    )
    const mapping = JSON.stringify({ email: 'E-Mail', plan: 'Plan', from: { value: 'fair' } })
    const out = `preview-${randomBytes(4).toString('hex')}`
    const id = await fixture.connect(localFolder, { files: file }, localFolder, { subfolder: out, mapping })
    const { response, status } = await preview(id)
    assert.equal(status, 200)
    assert.deepEqual(response.columns, ['email', 'plan', 'from'])
    assert.deepEqual(
      response.rows.map(([, plan, from]) => [plan, from]),
      [
        ['basic', 'fair'],
        ['large, yearly', 'fair'],
        ['none', 'fair'],
      ],
    )
    const [[shown] = []] = response.rows
    assert.equal(shown, 'xxx.xxxx…@xxxx….xxx')
    assert(!JSON.stringify(response).includes('lovelace'))
    assert.deepEqual(
      response.rejected.map(({ row }) => row),
      [3],
    )
    assert.match(response.rejected[0]?.reason ?? '', /\S/)
    const email = response.lint.find(({ field }) => field === 'email')
    assert.deepEqual([email?.column, email?.records, email?.missing], ['E-Mail', 3, 1])
    assert.equal((await readdir(fixture.folder)).includes(out), false)
    assert.deepEqual(
      await fixture.caller.expect(fixture.caller.call('listTransfers', { accountId: fixture.accountId, id })),
      [],
    )
  })

  test('reports problems of the destination with the mapped columns, and changes nothing there', async () => {
    const { id } = await addConnection('id,E-Mail,plan', 'x1,ada@example.com,basic', '2,grace@example.com,large')
    const findingsOf = async (destConnectionConfig: Record<string, string | boolean>) => {
      const { response, text } = await preview(id, {
        destConnectionConfig: { table: 'asked', ...destConnectionConfig },
      })
      assert.equal(response.rows.length, 2, text)
      return response.findings.map(({ code, column }) => [code, column])
    }
    assert.deepEqual(await findingsOf({}), [['table_not_found', null]])
    assert.deepEqual(await findingsOf({ createTable: true }), [])
    await fixture.target.query('create table asked (id int, email text)')
    assert.deepEqual(await findingsOf({}), [
      ['column_not_found', 'E-Mail'],
      ['column_not_found', 'plan'],
      ['type_mismatch', 'id'],
    ])
    const mapping = JSON.stringify({ email: 'E-Mail' })
    assert.deepEqual(await findingsOf({ mapping }), [])
    assert.deepEqual(await findingsOf({ mapping, writeMode: 'Upsert', keyColumns: 'email' }), [
      ['key_not_unique', null],
    ])
    const { response } = await preview(id, { destConnectionConfig: { table: 'asked' } })
    const [missing] = response.findings
    assert.match(missing?.message ?? '', /^The table asked has no column E-Mail; add what is missing, or map/)
    assert.deepEqual((await preview(id, { unmapped: true })).response.findings, [])
    assert.deepEqual((await fixture.target.query('select * from asked')).rows, [])
    const made = await fixture.target.query(`select to_regclass('penstock_batches') as batches`)
    assert.deepEqual(made.rows, [{ batches: null }])
  })

  test('shows the records though the destination cannot be reached or knows the user no more', async () => {
    const { accountId, caller } = fixture
    const { id } = await addConnection('name', 'Ada')
    const configure = (secretConfig: Record<string, string | number>) =>
      caller.expect(caller.call('configureConnector', { accountId, id: postgresql.id, body: { secretConfig } }))
    const secrets = postgresqlSecrets(fixture.targetUrl)
    const closed = await closedPort()
    for (const [change, code] of [
      [{ port: closed }, 'unreachable'],
      [{ password: 'canary of another' }, 'invalid_credentials'],
    ] as const) {
      await configure({ ...secrets, ...change })
      const { response, text } = await preview(id)
      assert.deepEqual(response.rows, [['Ada']], text)
      assert.deepEqual(
        response.findings.map((finding) => finding.code),
        [code],
      )
      assert.equal(text.includes('canary'), false)
    }
    await configure(secrets)
    assert.deepEqual(
      (await preview(id)).response.findings.map(({ code }) => code),
      ['table_not_found'],
    )
  })

  test('reads a hundred rows of a long file, and takes settings for one time', async () => {
    const long = await addFile('name', ...Array.from({ length: 5_000 }, (_, n) => `City ${n}`))
    const { id } = await addConnection('name', 'Ada')
    assert.equal((await preview(id)).response.rows.length, 1)
    assert.equal((await preview(id, { srcConnectionConfig: { files: long } })).response.rows.length, 100)
  })

  test('shows the columns of the source if a mapping does not match them yet, and only on request', async () => {
    const audiences = connectorBySlug('meta-custom-audiences')
    const { accountId, caller } = fixture
    await caller.expect(caller.call('addConnectors', { accountId, body: { connectorIds: [audiences.id] } }))
    const secretConfig = { authType: 'api-token', accessToken: 'canary' }
    await caller.expect(caller.call('configureConnector', { accountId, id: audiences.id, body: { secretConfig } }))
    const files = await addFile('Wer,Stufe', 'ada.lovelace@example.com,basic')
    const id = await fixture.connect(localFolder, { files }, audiences, { advertiserId: '1' })
    assert.deepEqual([(await preview(id)).status], [422])
    const { response } = await preview(id, { unmapped: true })
    assert.deepEqual(response.columns, ['Wer', 'Stufe'])
    assert.deepEqual(response.rows, [['xxx.xxxx…@xxxx….xxx', 'basic']])
    const mapping = JSON.stringify({ nobody: 'Wer' })
    assert.deepEqual((await preview(id, { unmapped: true, destConnectionConfig: { mapping } })).response, response)
  })

  test('proposes columns for the fields of a destination, which no transfer follows', async () => {
    const lists = connectorBySlug('meta-custom-audiences')
    const { accountId, caller } = fixture
    await caller.expect(caller.call('addConnectors', { accountId, body: { connectorIds: [lists.id] } }))
    const secretConfig = { authType: 'api-token', accessToken: 'canary' }
    await caller.expect(caller.call('configureConnector', { accountId, id: lists.id, body: { secretConfig } }))
    const files = await addFile(
      'Courriel,Billing Country,Shipping Country,Mobile',
      'ada@example.com,FR,AT,+33612345678',
    )
    const id = await fixture.connect(localFolder, { files }, lists, { advertiserId: '1' })
    const { matches = [] } = (await preview(id, { unmapped: true })).response
    const ofField = (name: string) => matches.find(({ field }) => field === name)
    const email = matches.find(({ column }) => column === 'Courriel')
    assert.equal(email?.byDefault, null)
    assert.match(email?.field ?? '', /^email/)
    assert.deepEqual(matches.find(({ column }) => column === 'Mobile')?.byDefault, 'Mobile')
    assert.deepEqual(ofField('country_code_sha256')?.candidates ?? ofField('country_code')?.candidates, [
      'Billing Country',
      'Shipping Country',
    ])
    const { status, text } = await preview(id, {})
    assert.equal(status, 422, text)
    assert.equal(text.includes('Courriel'), false, text)
  })

  test('proposes how to read numbers, days and words, in masks unless the values are seen', async () => {
    const files = await addFile('name,geburtsdatum,Preis,Tag', 'Ada,31.12.1985,"€ 9,90",03/04/2026')
    const { id } = await addConnection('name', 'Ada')
    const readings = async (body: object) =>
      (await preview(id, { unmapped: true, srcConnectionConfig: { files }, ...body })).response.readings
    const choice = { fits: 1, type: 'date' }
    const price = {
      reading: { numbers: 'comma', unit: '€' },
      type: 'numeric',
      fits: 1,
      before: '€ 9,90',
      after: '9.90',
    }
    const born = { ...choice, reading: { dates: 'DMY' }, before: '##.##.####', after: '####-##-##' }
    const day = { ...choice, before: '03/04/2026' }
    assert.deepEqual(await readings({}), [
      { column: 'geburtsdatum', records: 1, reason: 'shown', choices: [born], others: [] },
      { column: 'Preis', records: 1, reason: 'shown', choices: [price], others: [] },
      {
        column: 'Tag',
        records: 1,
        reason: 'ambiguous',
        choices: [
          { ...day, reading: { dates: 'DMY' }, after: '2026-04-03' },
          { ...day, reading: { dates: 'MDY' }, after: '2026-03-04' },
        ],
        others: [],
      },
    ])
    const [seen] = (await readings({ view: '0123456789abcdef' })) ?? []
    assert.deepEqual(seen?.choices, [{ ...born, before: '31.12.1985', after: '1985-12-31' }])
    const unit = { Preis: { column: 'Preis', unit: '€' } }
    const { status, text } = await preview(id, { destConnectionConfig: { mapping: JSON.stringify(unit) } })
    assert.equal(status, 422, text)
    assert.match(text, /unit needs numbers/)
  })

  test('proposes types from the whole file, and states from how many rows', async () => {
    const rows = Array.from({ length: 3_000 }, (_, n) => `${n},${n === 2_500 ? 'n/a' : '1.5'},${n < 200 ? '' : 'true'}`)
    const files = await addFile('id,price,paid', ...rows)
    const { id } = await addConnection('name', 'Ada')
    const body = { unmapped: true, srcConnectionConfig: { files } }
    const { readings = [], sampled, rows: shown } = (await preview(id, body)).response
    assert.deepEqual(sampled, { rows: 3_000, whole: true })
    assert.equal(shown.length, 100)
    assert.deepEqual(
      readings.map(({ column, reason, records, others }) => [column, reason, records, others.length]),
      [
        ['price', 'mostly', 3_000, 1],
        ['paid', 'shown', 2_800, 0],
      ],
    )
    const many = await addFile('a', ...Array.from({ length: 60_000 }, () => '1,5'))
    const first = (await preview(id, { ...body, srcConnectionConfig: { files: many } })).response
    // A slow machine reads fewer rows in time.
    assert.equal(first.sampled?.whole, false)
    assert.ok(first.sampled.rows > 100 && first.sampled.rows <= 50_000, `${first.sampled.rows} rows`)
  })

  test('shows what is valid of a mapping that is not finished, and why the rest is not', async () => {
    const lists = connectorBySlug('meta-custom-audiences')
    const { accountId, caller } = fixture
    await caller.expect(caller.call('addConnectors', { accountId, body: { connectorIds: [lists.id] } }))
    const secretConfig = { authType: 'api-token', accessToken: 'canary' }
    await caller.expect(caller.call('configureConnector', { accountId, id: lists.id, body: { secretConfig } }))
    const files = await addFile('Courriel,Pays', 'Ada@example.com,FR', 'none,France')
    const id = await fixture.connect(localFolder, { files }, lists, { advertiserId: '1' })
    const mapping = (entries: object) => ({ destConnectionConfig: { mapping: JSON.stringify(entries) } })
    const entries = { email_sha256: 'Courriel', city_sha256: 'Ville' }
    assert.equal((await preview(id, mapping(entries))).status, 422)
    const { response, text } = await preview(id, { ...mapping(entries), partial: true })
    assert.deepEqual(
      response.mappingErrors?.map(({ field }) => field),
      ['destConnectionConfig.mapping.city_sha256', 'destConnectionConfig.mapping.action'],
      text,
    )
    const [lint] = response.lint
    assert.equal(lint?.column, 'Courriel')
    assert.equal(lint?.samples[0]?.before, 'Xxx@xxxx….xxx')
    assert.equal(lint?.samples[0]?.after, 'xxxxxxxx…')
    assert.deepEqual(lint?.samples[1], { before: 'xxxx', after: null })
    const whole = { ...mapping({ email_sha256: 'Courriel', action: { value: 'add' } }), partial: true }
    assert.equal((await preview(id, whole)).response.mappingErrors, undefined)
  })

  test('counts what a filter leaves out, and shows what expressions make, or why they cannot', async () => {
    const file = await addFile('first_name,n', 'ada,1', 'grace,2', 'linus,x', 'barbara,4')
    const id = await fixture.connect(localFolder, { files: file }, localFolder, { subfolder: 'unused' })
    const body = (filter: string, expression: string) => ({
      destConnectionConfig: { filter, mapping: JSON.stringify({ label: { expression } }) },
    })
    const { response, text } = await preview(id, body('first_name != "ada"', 'number(n) > 2 ? upper(first_name) : "x"'))
    assert.deepEqual([response.filtered, response.rows], [1, [['x'], ['XXXX…']]], text)
    assert.deepEqual(response.rejected, [
      { row: 3, field: 'label', reason: 'label has no value: n is not a number, at character 8' },
    ])
    const [lint] = response.lint
    assert.deepEqual([lint?.column, lint?.malformed], ['number(n) > 2 ? upper(first_name) : "x"', 1])

    const wrong = body('firstnam == "ada"', 'upper(title)')
    const details = [
      { field: 'destConnectionConfig.mapping.label', message: 'expression has no column title, at character 7' },
      {
        field: 'destConnectionConfig.filter',
        message: 'has no column firstnam, at character 1. Did you mean first_name?',
      },
    ]
    const refused = await preview(id, wrong)
    assert.deepEqual([refused.status, refused.details], [422, details])
    const partly = await preview(id, { ...wrong, partial: true })
    const place = {
      at: 0,
      length: 8,
      message: 'The expression has no column firstnam. Did you mean first_name?',
      fix: { at: 0, length: 8, text: 'first_name' },
    }
    assert.deepEqual(
      [partly.response.mappingErrors?.slice(-1), partly.response.filtered],
      [[{ ...details[1], place }], 0],
    )
  })

  test('hashes with the key of the configuration, which it does not show, and says what to do without it', async () => {
    const file = await addFile('first_name', 'ada')
    const mapping = JSON.stringify({ label: { expression: 'hmac(first_name)' } })
    const id = await fixture.connect(localFolder, { files: file }, localFolder, { subfolder: 'unused', mapping })
    const refused = await preview(id)
    assert.deepEqual([refused.status, refused.details[0]?.field], [422, 'destConnectionConfig.mapping.label'])
    assert.match(refused.details[0]?.message ?? '', /save a hash key in the configuration/)
    const { accountId, caller } = fixture
    const hashKey = 'canary of a hash key'
    await caller.expect(
      caller.call('configureConnector', { accountId, id: localFolder.id, body: { secretConfig: { hashKey } } }),
    )
    const { response, text } = await preview(id, { view: '0123456789abcdef' })
    const digest = createHmac('sha256', hashKey).update('ada').digest('hex')
    assert.equal(response.lint[0]?.samples[0]?.after, digest, text)
    assert(!text.includes(hashKey))
  })

  test('shows phone numbers without a country as rejected, and how to give one', async () => {
    const lists = connectorBySlug('meta-custom-audiences')
    const { accountId, caller } = fixture
    await caller.expect(caller.call('addConnectors', { accountId, body: { connectorIds: [lists.id] } }))
    const secretConfig = { authType: 'api-token', accessToken: 'canary' }
    await caller.expect(caller.call('configureConnector', { accountId, id: lists.id, body: { secretConfig } }))
    const rows = (...countries: string[]) => countries.map((country) => `add,People,4695551234,${country}`)
    const files = await addFile('action,segment_name,phone_sha256,Country', ...rows('', 'US', 'Atlantis'))
    const id = await fixture.connect(localFolder, { files }, lists, { advertiserId: '1' })
    const rejectedBy = async (config: Record<string, string>) => {
      const { response, text } = await preview(id, { destConnectionConfig: config })
      assert.equal(response.rows.length + response.rejected.length, 3, text)
      return response.rejected
    }
    const rejected = await rejectedBy({ advertiserId: '1' })
    assert.deepEqual(
      rejected.map(({ row }) => row),
      [1, 3],
    )
    assert.match(rejected[0]?.reason ?? '', /^phone_sha256 .*lacks its country code: .*defaultCountry/)
    assert.deepEqual(await rejectedBy({ advertiserId: '1', defaultCountry: 'US' }), [])
    const refused = await preview(id, { destConnectionConfig: { advertiserId: '1', defaultCountry: 'Atlantis' } })
    assert.deepEqual(
      [refused.status, refused.details.map(({ field }) => field)],
      [422, ['destConnectionConfig.defaultCountry']],
    )
  })

  test('rejects the rows that the destination would not send, by the code of its delivery', async () => {
    const reddit = connectorBySlug('reddit-conversions')
    const { accountId, caller } = fixture
    await caller.addConnectors(accountId, reddit)
    const body = { secretConfig: { conversionToken: 'token' } }
    await caller.expect(caller.call('configureConnector', { accountId, id: reddit.id, body }))
    const now = Math.floor(Date.now() / 1000)
    const file = await addFile(
      'event_name,event_time,action_source,email,value',
      `lead,${now},website,ada@example.com,"1,001"`,
      `lead,${now},website,grace@example.com,12.50`,
      'lead,2026-11-22 10:00,website,joan@example.com,3',
      `lead,${now},billboard,mary@example.com,3`,
    )
    const id = await fixture.connect(localFolder, { files: file }, reddit, { pixelId: 'a2_abc' })
    const { rejected, rows } = (await preview(id)).response
    assert.deepEqual(
      rejected.map(({ row, field }) => [row, field]),
      [
        [1, 'value'],
        [3, 'event_time'],
        [4, 'action_source'],
      ],
    )
    assert.equal(rows.length, 1)
  })

  test('rejects the rows that a table of PostgreSQL would not take, and writes none', async () => {
    const table = `preview_${randomBytes(4).toString('hex')}`
    await fixture.target.query(`create table ${table} (id int primary key, name varchar(5) not null)`)
    await fixture.target.query(`insert into ${table} values (3, 'old')`)
    const lines = ['id,name', '1,Ada', '2,Grace Hopper', '3,Again', '1,Twice', 'x,X', '4,']
    const config = { table, writeMode: 'Insert' }
    const id = await fixture.connect(localFolder, { files: await addFile(...lines) }, postgresql, config)
    const { rows, rejected } = (await preview(id)).response
    assert.deepEqual(
      rejected.map(({ row, field }) => [row, field]),
      [
        [2, 'name'],
        [3, null],
        [4, null],
        [5, 'id'],
        [6, 'name'],
      ],
    )
    assert.equal(rows.length, 1)
    assert.equal((await fixture.target.query(`select * from ${table}`)).rows.length, 1)
    await fixture.target.query(`alter table ${table} add foreign key (id) references ${table} (id)`)
    await fixture.target.query(`create trigger keep before insert on ${table} for each row
      execute function suppress_redundant_updates_trigger()`)
    const { findings } = (await preview(id)).response
    const untried = findings.filter(({ code }) => code === 'rows_not_tried').map(({ message }) => message)
    assert.deepEqual(untried, [
      'A transfer may reject further records: the preview does not try foreign keys, triggers.',
    ])
  })

  test('reads local forms of numbers and times, and needs a word if one can be read in two ways', async () => {
    const reddit = connectorBySlug('reddit-conversions')
    const { accountId, caller } = fixture
    await caller.addConnectors(accountId, reddit)
    const body = { secretConfig: { conversionToken: 'token' } }
    await caller.expect(caller.call('configureConnector', { accountId, id: reddit.id, body }))
    const today = new Date().toISOString().slice(0, 10)
    const german = today.split('-').reverse().join('.')
    const file = await addFile(
      'event_name,event_time,action_source,email,value',
      `lead,${german} 00:05,website,ada@example.com,"1.001,50"`,
      `lead,${today} 00:05,website,ada@example.com,"1,001"`,
    )
    const id = await fixture.connect(localFolder, { files: file }, reddit, { pixelId: 'a2_abc' })
    const read = async (destConnectionConfig: Record<string, string>) => {
      const { columns, rows, rejected } = (
        await preview(id, { destConnectionConfig: { pixelId: 'a2_abc', ...destConnectionConfig } })
      ).response
      const shown = rows.map((row) => [row[columns.indexOf('event_time')], row[columns.indexOf('value')]])
      return { shown, rejected: rejected.map(({ row, field, reason }) => `${row} ${field}: ${reason}`) }
    }
    const bare = await read({})
    assert.deepEqual(bare.shown, [])
    assert.match(bare.rejected[0] ?? '', /^1 event_time: event_time has no time zone/)
    const zoned = await read({ defaultTimezone: 'Etc/GMT-2' })
    const inUtc = new Date(Date.parse(`${today}T00:05Z`) - 7_200_000).toISOString()
    assert.deepEqual(
      zoned.shown.map(([time]) => time),
      [`${inUtc.slice(0, 19)}Z`],
    )
    assert.match(zoned.rejected[0] ?? '', /^2 value: value can be read in two ways/)
    const mapping = JSON.stringify({ value: { column: 'value', numbers: 'comma' } })
    assert.deepEqual((await read({ defaultTimezone: 'Etc/GMT-2', mapping })).rejected, [])
    const wrong = await preview(id, { destConnectionConfig: { pixelId: 'a2_abc', defaultTimezone: 'Berlin' } })
    assert.equal(wrong.status, 422)
    assert.deepEqual(
      wrong.details.map(({ field }) => field),
      ['destConnectionConfig.defaultTimezone'],
    )
  })

  test('reports settings that the destination refuses, beside the rows', async () => {
    const google = connectorBySlug('google-ads-conversions')
    const { accountId, caller } = fixture
    await caller.addConnectors(accountId, google)
    const body = { secretConfig: { clientId: 'id', clientSecret: 'secret', refreshToken: 'token' } }
    await caller.expect(caller.call('configureConnector', { accountId, id: google.id, body }))
    const file = await addFile('event_time,email,value', '2026-11-20T10:00:00Z,ada@example.com,"1,500"')
    const id = await fixture.connect(localFolder, { files: file }, google, { customerId: '1', conversionActionId: '2' })
    const rejectedFields = async (destConnectionConfig = {}) => {
      const { rejected, rows, findings } = (await preview(id, { destConnectionConfig })).response
      // Google is asked, too, and cannot be reached from everywhere.
      const isUnread = findings.some(({ code }) => code === 'invalid_setting')
      return [rejected.map(({ field }) => field), rows.length, isUnread]
    }
    assert.deepEqual(await rejectedFields(), [['value'], 0, false])
    const unknown = { customerId: 'acme', conversionActionId: '2' }
    assert.deepEqual(await rejectedFields(unknown), [['value'], 0, true])
  })

  test('says what is wrong where the source, the mapping or the connection does not permit it', async () => {
    const { id, path } = await addConnection('name', 'Ada')
    const refused = async (body: object, status: number, error: string, field?: string) => {
      const reply = await preview(id, body)
      assert.deepEqual([reply.status, reply.error, reply.details[0]?.field], [status, error, field], reply.text)
      assert.match(reply.details[0]?.message ?? 'no field', /\S/)
      return reply.response as unknown as { cause?: TransferError }
    }
    const connection = await fixture.caller.expect(fixture.caller.call('getConnection', path))
    const nowhere = { srcConnectionConfig: { files: 'nowhere.csv' } }
    const { cause } = await refused(nowhere, 422, 'platform_refused', 'srcConnector')
    assert.deepEqual(
      { ...cause, message: undefined },
      { code: 'object_not_found', message: undefined, side: 'source', connectorId: connection.src.connectorId },
    )
    const mapping = JSON.stringify({ name: 'Nobody' })
    const invalid = { destConnectionConfig: { mapping } }
    const { cause: ofMapping } = await refused(invalid, 422, 'platform_refused', 'destConnectionConfig.mapping.name')
    assert.deepEqual(
      [ofMapping?.code, ofMapping?.side, ofMapping?.connectorId],
      ['columns_do_not_fit', 'destination', connection.dest.connectorId],
    )
    await refused({ destConnectionConfig: { mapping: '{' } }, 422, 'platform_refused', 'destConnectionConfig.mapping')
    await fixture.caller.expect(fixture.caller.call('deleteConnection', path))
    await refused({}, 409, 'connection_deleted')
  })

  test('is made before a connection is active, once all that it needs is there', async () => {
    const { accountId, caller } = fixture
    const body = { name: 'New', srcConnectorId: localFolder.id, destConnectorId: localFolder.id }
    const { id } = await caller.expect(caller.call('createConnection', { accountId, body }))
    const early = await preview(id)
    assert.deepEqual([early.status, early.error], [409, 'connection_not_ready'])
    assert.deepEqual(
      early.details.map(({ field }) => field),
      ['srcConnectionConfig.files'],
    )
    const files = await addFile('name', 'Ada')
    assert.equal((await preview(id, { srcConnectionConfig: { files } })).response.rows.length, 1)
  })
})

describe('a preview of a store of files that falls silent behind the headers of its answer', () => {
  const secretHost: SecretHost = {
    leaseSecret: async () => assert.fail('No secret is renewed'),
    replaceSecret: async () => assert.fail('No secret is renewed'),
    releaseSecret: async () => {},
  }

  test('ends once it has been silent for as long as a preview allows, long before its deadline', async () => {
    const listing =
      '<ListBucketResult><IsTruncated>false</IsTruncated><Contents><Key>people.csv</Key><Size>1000</Size><ETag>"1"</ETag></Contents></ListBucketResult>'
    const deaf = createHttpServer(({ method, url = '' }, response) => {
      if (url.includes('list-type'))
        return void response.writeHead(200, { 'content-type': 'application/xml' }).end(listing)
      if (method === 'HEAD') return void response.writeHead(200, { 'content-length': '1000', etag: '"1"' }).end()
      response.writeHead(200, { 'content-length': '1000', etag: '"1"' }).flushHeaders()
    }).listen(0, '127.0.0.1')
    await once(deaf, 'listening')
    const origin = `http://127.0.0.1:${(deaf.address() as AddressInfo).port}`
    const egress = createEgress({
      networkPolicy: 'any',
      routes: { 'https://files.example.com': origin, 'https://people.s3.eu-west-1.amazonaws.com': origin },
    })
    const keys = { accessKeyId: 'AKIAIOSFODNN7EXAMPLE', secretAccessKey: 'canary/of/the/key', region: 'eu-west-1' }
    const sources = [
      { slug: 'https-file', secrets: { url: 'https://files.example.com/people.csv' }, settings: {} },
      { slug: 'amazon-s3-source', secrets: keys, settings: { bucketUri: 's3://people/people.csv' } },
    ]
    try {
      for (const source of sources) {
        const plainHttp = { loopback: true, allow: [] }
        const runtime = { loadConnector, egress, plainHttp, localFolders: [] }
        const job = {
          ...({ kind: 'preview', source, unmapped: true, showing: 'masked' } as const),
          destination: { slug: 'local-folder', secrets: {}, settings: {} },
          noAnswerMs: 300,
          inspectionMs: 1_000,
          deadlineMs: 60_000,
        }
        const deps = { runtime, host: secretHost as never, signal: new AbortController().signal, onProgress: () => {} }
        const result = await runJob(job, deps)
        assert.ok(!result.ok && result.error.kind === 'connector', JSON.stringify(result))
        assert.deepEqual([result.error.code, result.error.side], ['timeout', 'Source'], source.slug)
      }
    } finally {
      await egress.close()
      deaf.closeAllConnections()
      deaf.close()
    }
  })
})
