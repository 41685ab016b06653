import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { readdir, writeFile } from 'node:fs/promises'
import { type AddressInfo, createServer } from 'node:net'
import { join } from 'node:path'
import { after, before, describe, test } from 'node:test'
import type { TransferError } from '@penstock/wire'
import { connectorBySlug } from './harness/fixtures.ts'
import { type Fixture, localFolder, postgresql, postgresqlSecrets, startFixture } from './harness/transfers.ts'

/** What a transfer would send, looked at before it does. No worker runs. */

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
/** A file of the folder, of these lines; gives its name. */
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
    assert.equal(shown, 'a…@e….com')
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
    assert.deepEqual(response.rows, [['a…@e….com', 'basic']])
    const mapping = JSON.stringify({ nobody: 'Wer' })
    assert.deepEqual((await preview(id, { unmapped: true, destConnectionConfig: { mapping } })).response, response)
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
