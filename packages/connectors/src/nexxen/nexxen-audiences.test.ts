import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { mkdir, mkdtemp, readdir, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, beforeEach, describe, test } from 'node:test'
import { gunzipSync } from 'node:zlib'
import type { Row, Values } from '@penstock/connector'
import { acceptDestination, testContext } from '@penstock/connector/acceptance'
import ssh2 from 'ssh2'
import { startSftpServer } from '../../test/sftp-server.ts'
import { batchOf, connectorErrorOf } from '../../test/tables.ts'
import { startTcpProxy } from '../../test/tcp-proxy.ts'
import { nexxenAudiences } from './nexxen-audiences.ts'

const directory = await mkdtemp(join(tmpdir(), 'penstock-nexxen-'))
after(() => rm(directory, { recursive: true, force: true }))
const inbox = join(directory, 'inbox')
await mkdir(inbox)

const [hostKey, userKey, strangeKey] = [1, 2, 3].map(() => ssh2.utils.generateKeyPairSync('ed25519', {}))
assert.ok(hostKey && userKey && strangeKey)
const server = await startSftpServer({ hostKey: hostKey.private, username: 'acme', keys: [userKey.public] })
after(() => server.close())
const proxy = await startTcpProxy(server.port)
after(() => proxy.close())
const fingerprint = createHash('sha256')
  .update(Buffer.from(hostKey.public.split(' ')[1] ?? '', 'base64'))
  .digest('base64')
const secrets: Values = {
  hostname: '127.0.0.1',
  port: proxy.port,
  username: 'acme',
  sshPrivateKey: userKey.private,
  hostKeyFingerprint: `SHA256:${fingerprint}`,
}
const settings: Values = { path: inbox, dataProviderId: '4711' }
const columns = ['categoryIds', 'userIdentifier']
const device = (number: number) => `38400000-8cf0-11bd-b23e-${String(number).padStart(12, '0')}`
const rows = Array.from({ length: 2000 }, (_, index): Row => [`${index},base`, device(index)])

const empty = async () => {
  for (const name of await readdir(inbox)) await rm(join(inbox, name))
}
const visible = async () => (await readdir(inbox)).filter((name) => !name.startsWith('.'))

acceptDestination({
  connector: nexxenAudiences,
  testServer: 'a server of plain SFTP 3, by ssh2',
  columns,
  rows,
  secrets,
  settings,
  wrongSecrets: { ...secrets, sshPrivateKey: strangeKey.private },
  missing: { ...settings, path: join(inbox, 'absent') },
  badRows: [
    { row: ['1', 'ada@example.com'], reason: /only hashed/, field: 'userIdentifier' },
    { row: ['1', 'two words'], reason: /white space/, field: 'userIdentifier' },
    { row: [' , ', device(1)], reason: /no category ID/, field: 'categoryIds' },
    { row: ['1,2\t3', device(1)], reason: /separate IDs with commas/, field: 'categoryIds' },
    { row: ['1', null], reason: /no identifier/, field: 'userIdentifier' },
    { row: ['1', 'a\u0000b'], reason: /control characters/, field: 'userIdentifier' },
    { row: [null, device(1)], reason: /no category ID/, field: 'categoryIds' },
  ],
  readBack: async () => {
    const texts = await Promise.all((await visible()).map((name) => readFile(join(inbox, name), 'utf8')))
    return texts.flatMap((text) =>
      text
        .split('\n')
        .slice(0, -1)
        .map((line) => line.split('\t').reverse()),
    )
  },
  reset: empty,
  deduplicates: true,
  visible: 'when finished',
  hang: { start: proxy.stall, reached: proxy.stalled, stop: proxy.pass },
  errors: [
    {
      name: 'breaks off again and again',
      action: 'retry',
      code: 'connection_lost',
      start: () => proxy.cutAfter(2500),
      stop: () => proxy.cutAfter(undefined),
    },
    {
      name: 'forbids to write',
      action: 'reconfigure',
      code: 'permission_denied',
      start: () => {
        server.writeStatus = ssh2.utils.sftp.STATUS_CODE.PERMISSION_DENIED
      },
      stop: () => {
        server.writeStatus = undefined
      },
    },
  ],
})

describe('files for Nexxen', () => {
  beforeEach(empty)

  async function writeAll(own: Values, batches: readonly (readonly Row[])[]): Promise<void> {
    const context = testContext({ secrets, columns, settings: { ...settings, ...own } })
    const writer = await nexxenAudiences.destination?.deliver?.open(context)
    assert.ok(writer)
    try {
      for (const [at, batch] of batches.entries()) await writer.deliver(batchOf(columns, batch, at + 1))
      await writer.flush?.()
      await writer.finish?.()
    } finally {
      await writer.close?.()
    }
  }

  test('hold a line for each row, the identifier first, and are named after the data provider', async () => {
    await writeAll({ dataProviderId: ' 4711 ' }, [[[' 12, 13,,12 ', ` ${device(1)} `]], [[14, device(2)]]])
    assert.deepEqual(await visible(), ['4711_20260131T120000Z-0f1e2d3c4b5a6978.txt'])
    const text = await readFile(join(inbox, (await visible())[0] ?? ''), 'utf8')
    assert.equal(text, `${device(1)}\t12,13\n${device(2)}\t14\n`)
  })

  test('are compressed where that is set', async () => {
    await writeAll({ gzip: true }, [[['12', 'a*b+c/d=']], [['13', '192.0.2.7']]])
    assert.deepEqual(await visible(), ['4711_20260131T120000Z-0f1e2d3c4b5a6978.txt.gz'])
    const bytes = await readFile(join(inbox, (await visible())[0] ?? ''))
    assert.equal(gunzipSync(bytes).toString(), 'a*b+c/d=\t12\n192.0.2.7\t13\n')
  })

  test('are not written without a row that can go', async () => {
    await writeAll({}, [])
    await writeAll({}, [[['12', 'ada@example.com']]])
    assert.deepEqual(await readdir(inbox), [])
  })

  test('have no name that leads elsewhere', async () => {
    for (const dataProviderId of ['../4711', '4711/', 'a b']) {
      assert.deepEqual(await connectorErrorOf(writeAll({ dataProviderId }, [])), ['reconfigure', 'invalid_setting'])
    }
  })
})
