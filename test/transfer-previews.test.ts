import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { readdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { after, before, describe, test } from 'node:test'
import { connectorBySlug } from './harness/fixtures.ts'
import { localFolder, type Mill, postgresql, startMill } from './harness/transfers.ts'

/** What a transfer would send, looked at before it does. No worker runs. */

let mill: Mill
before(async () => {
  mill = await startMill()
})
after(() => mill.close())

let files = 0
/** A file of the folder, of these lines; gives its name. */
async function addFile(...lines: string[]): Promise<string> {
  const name = `rows-${++files}.csv`
  await writeFile(join(mill.folder, name), `${lines.join('\n')}\n`)
  return name
}

/** A connection from a new file to a table that is not there, which nobody asks for. */
async function addPipe(...lines: string[]) {
  const config = { table: 'nowhere', writeMode: 'Insert' }
  const id = await mill.connect(localFolder, { files: await addFile(...lines) }, postgresql, config)
  return { id, pipe: { accountId: mill.accountId, id } }
}

describe('a preview', () => {
  const preview = (id: string, body = {}) =>
    mill.caller.call('previewConnection', { accountId: mill.accountId, id, body })

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
    const id = await mill.connect(localFolder, { files: file }, localFolder, { subfolder: out, mapping })
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
    assert.equal((await readdir(mill.folder)).includes(out), false)
    assert.deepEqual(await mill.caller.expect(mill.caller.call('listTransfers', { accountId: mill.accountId, id })), [])
  })

  test('reads a hundred rows of a long file, and takes settings for one time', async () => {
    const long = await addFile('name', ...Array.from({ length: 5_000 }, (_, n) => `City ${n}`))
    const { id } = await addPipe('name', 'Ada')
    assert.equal((await preview(id)).response.rows.length, 1)
    assert.equal((await preview(id, { srcConnectionConfig: { files: long } })).response.rows.length, 100)
  })

  test('shows the columns of the source where a mapping does not fit them yet, and only asked for', async () => {
    const audiences = connectorBySlug('meta-custom-audiences')
    const { accountId, caller } = mill
    await caller.expect(caller.call('addConnectors', { accountId, body: { connectorIds: [audiences.id] } }))
    const secretConfig = { authType: 'api-token', accessToken: 'canary' }
    await caller.expect(caller.call('configureConnector', { accountId, id: audiences.id, body: { secretConfig } }))
    const files = await addFile('Wer,Stufe', 'ada.lovelace@example.com,basic')
    const id = await mill.connect(localFolder, { files }, audiences, { advertiserId: '1' })
    assert.deepEqual([(await preview(id)).status], [422])
    const { response } = await preview(id, { unmapped: true })
    assert.deepEqual(response.columns, ['Wer', 'Stufe'])
    assert.deepEqual(response.rows, [['a…@e….com', 'basic']])
    const mapping = JSON.stringify({ nobody: 'Wer' })
    assert.deepEqual((await preview(id, { unmapped: true, destConnectionConfig: { mapping } })).response, response)
  })

  test('says what is wrong where the source, the mapping or the connection does not permit it', async () => {
    const { id, pipe } = await addPipe('name', 'Ada')
    const refused = async (body: object, status: number, error: string, field?: string) => {
      const reply = await preview(id, body)
      assert.deepEqual([reply.status, reply.error, reply.details[0]?.field], [status, error, field], reply.text)
      assert.match(reply.details[0]?.message ?? 'no field', /\S/)
    }
    await refused({ srcConnectionConfig: { files: 'nowhere.csv' } }, 422, 'platform_refused', 'srcConnector')
    const mapping = JSON.stringify({ name: 'Nobody' })
    await refused({ destConnectionConfig: { mapping } }, 422, 'platform_refused', 'destConnectionConfig.mapping.name')
    await refused({ destConnectionConfig: { mapping: '{' } }, 422, 'platform_refused', 'destConnectionConfig.mapping')
    await mill.caller.expect(mill.caller.call('deleteConnection', pipe))
    await refused({}, 409, 'connection_deleted')
  })

  test('is made before a connection is active, once all that it needs is there', async () => {
    const { accountId, caller } = mill
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
