import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { mkdir, mkdtemp, readdir, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, test } from 'node:test'
import { gunzipSync } from 'node:zlib'
import type { Row, Values } from '@penstock/connector'
import { acceptDestination, testContext } from '@penstock/connector/acceptance'
import ssh2 from 'ssh2'
import { startSftpServer } from '../../test/sftp-server.ts'
import { batchOf } from '../../test/tables.ts'
import { startTcpProxy } from '../../test/tcp-proxy.ts'
import { liverampIdMatch } from './liveramp-id-match.ts'

const directory = await mkdtemp(join(tmpdir(), 'penstock-liveramp-'))
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
const settings: Values = { path: inbox }
const columns = ['EMAIL1', 'AUDIENCEKEY', 'LASTNAME', 'ADDRESS1']
const rows = Array.from({ length: 2000 }, (_, n): Row => [`${n}@example.com`, `k${n}`, `O"Neil, ${n}`, null])
const header = 'AUDIENCEKEY,FIRSTNAME,LASTNAME,ADDRESS1,ADDRESS2,CITY,STATE,ZIP,EMAIL1,EMAIL2,PHONE1,PHONE2'

const empty = async () => {
  for (const name of await readdir(inbox)) await rm(join(inbox, name))
}
const visible = async () => (await readdir(inbox)).filter((name) => !name.startsWith('.'))

acceptDestination({
  connector: liverampIdMatch,
  testServer: 'a server of plain SFTP 3, by ssh2',
  columns,
  rows,
  secrets,
  settings,
  wrongSecrets: { ...secrets, sshPrivateKey: strangeKey.private },
  missing: { ...settings, path: join(inbox, 'absent') },
  badRows: [
    { row: ['a@example.com', null, 'Smith', null], reason: /no audience key/, field: 'AUDIENCEKEY' },
    { row: [null, 'k', 'Smith', null], reason: /no e-mail address/, field: 'EMAIL1' },
    { row: [null, 'k', 'Smith', '1 Main St'], reason: /need a first/, field: 'FIRSTNAME' },
    { row: ['a@example.com', 'k', 'a\nb', null], reason: /line break/, field: 'LASTNAME' },
  ],
  readBack: async () => {
    const texts = await Promise.all((await visible()).map((name) => readFile(join(inbox, name), 'utf8')))
    return texts.flatMap((text) => {
      const [first, ...lines] = text.split('\n').slice(0, -1)
      assert.equal(first, header)
      return lines.map((line): Row => {
        const [, key = '', name = '', email = ''] = /^"(\w+)",,"(.*)",,,,,,"(.*)",,,$/.exec(line) ?? assert.fail(line)
        return [email, key, name.replaceAll('""', '"'), null]
      })
    })
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

test('a compressed file has the header once, and no file is left without a person', async () => {
  await empty()
  for (const people of [[], [[null, 'k', null, null]], [rows.slice(0, 2), rows.slice(2, 3)].flat()]) {
    const context = testContext({ secrets, columns, settings: { ...settings, gzip: true } })
    const writer = await liverampIdMatch.destination?.deliver?.open(context)
    assert.ok(writer)
    await writer.deliver(batchOf(columns, people as Row[], 1))
    await writer.flush?.()
    await writer.finish?.()
    await writer.close?.()
  }
  const [name = '', ...others] = await visible()
  assert.deepEqual([name, others], ['PII_20260131T120000Z-0f1e2d3c4b5a6978.csv.gz', []])
  const text = gunzipSync(await readFile(join(inbox, name))).toString()
  assert.equal(text.split('\n').length, 5)
  assert.equal(text.split(header).length, 2)
})
