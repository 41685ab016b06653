import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { mkdir, mkdtemp, open as openHandle, readdir, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, test } from 'node:test'
import type { Json } from '@penstock/connector'
import { testContext } from '@penstock/connector/acceptance'
import { startOpenSsh } from '../../test/openssh-server.ts'
import { startSftpServer } from '../../test/sftp-server.ts'
import { makeSshKey } from '../../test/ssh-keys.ts'
import { sftpDestination } from './sftp-destination.ts'

const directory = await mkdtemp(join(tmpdir(), 'penstock-sftp-attempts-'))
after(() => rm(directory, { recursive: true, force: true }))
const [hostKey, userKey] = [makeSshKey('ed25519', {}), makeSshKey('ed25519', {})]
const hostKeyBytes = Buffer.from(hostKey.public.split(' ')[1] ?? '', 'base64')
const fingerprint = createHash('sha256').update(hostKeyBytes).digest('base64').replace(/=+$/, '')

const plain = await startSftpServer({
  hostKey: hostKey.private,
  username: 'ada',
  keys: [userKey.public],
  password: 'x',
})
after(() => plain.close())
const openSsh = await startOpenSsh(directory, hostKey.private, [userKey.public])
after(() => openSsh?.close())
const testServers = [
  { name: 'a server of plain SFTP 3', port: plain.port, username: 'ada' },
  ...(openSsh ? [{ name: 'OpenSSH', port: openSsh.port, username: openSsh.username }] : []),
]

const columns = ['id', 'email']
const rows = Array.from({ length: 10 }, (_, index) => [`${index}`, `person${index}@example.com`])

for (const [index, testServer] of testServers.entries()) {
  const { port, username } = testServer
  const outbox = join(directory, `outbox-${index}`)
  const login = { hostname: '127.0.0.1', port, username, sshPrivateKey: userKey.private }
  const secrets = { ...login, hostKeyFingerprint: `SHA256:${fingerprint}` }

  test(`publishes what no attempt that wakes up later can alter or replace, against ${testServer.name}`, async () => {
    await mkdir(outbox)
    const open = (deliveryStates: readonly Json[]) =>
      sftpDestination.destination?.deliver?.open(
        testContext({ secrets, columns, settings: { path: outbox, fileFormat: 'CSV' }, deliveryStates }),
      )
    const batch = { key: 'k', columns, rows: rows.slice(0, 10), firstRow: 1 }
    for (const wakesWith of ['its file', 'nothing', 'all parts'] as const) {
      const old = await open([])
      const { deliveryState = null } = wakesWith === 'nothing' ? {} : ((await old?.deliver(batch)) ?? {})
      const hidden = await readdir(outbox)
      const handles = await Promise.all(hidden.map((name) => openHandle(join(outbox, name), 'r+')))
      const next = await open(deliveryState === null ? [] : [deliveryState])
      if (wakesWith !== 'all parts') await next?.deliver(batch)
      await next?.finish?.()
      const [name = '', ...more] = await readdir(outbox)
      assert.deepEqual(more, [], 'nothing is left over')
      const published = await readFile(join(outbox, name), 'utf8')
      assert.ok(published.length > 100)
      for (const handle of handles) {
        await handle.truncate(10)
        await handle.close()
      }
      if (wakesWith !== 'all parts') await old?.deliver(batch).catch(() => {})
      await old?.finish?.().catch(() => {})
      assert.equal(await readFile(join(outbox, name), 'utf8'), published)
      await old?.abort?.()
      await old?.close?.()
      await next?.close?.()
      assert.equal(await readFile(join(outbox, name), 'utf8'), published)
      assert.deepEqual(await readdir(outbox), [name])
      await rm(join(outbox, name))
    }
  })
}
