import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { mkdir, mkdtemp, readdir, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after } from 'node:test'
import type { Connector, Row, Values } from '@penstock/connector'
import { type acceptDestination, testContext } from '@penstock/connector/acceptance'
import ssh2 from 'ssh2'
import { startSftpServer } from './sftp-server.ts'
import { makeSshKey } from './ssh-keys.ts'
import { batchOf } from './tables.ts'
import { startTcpProxy } from './tcp-proxy.ts'

type Accepted = Parameters<typeof acceptDestination>[0]

/** A folder on an SFTP server into which a connector puts files, as a platform that collects them has it. */
export type SftpInbox = {
  readonly path: string
  /** The facts of the folder for the suite of all destinations. */
  readonly facts: Pick<
    Accepted,
    'testServer' | 'secrets' | 'wrongSecrets' | 'reset' | 'deduplicates' | 'visible' | 'hang' | 'errors'
  >
  /** The names of the files that are finished. */
  files(): Promise<string[]>
  read(name: string): Promise<Buffer>
  /** The texts of all finished files. */
  texts(): Promise<string[]>
  /** Writes batches of rows to the end of a transfer. */
  write(connector: Connector, columns: readonly string[], settings: Values, batches: readonly Row[][]): Promise<void>
}

/** Starts a server with an inbox until the tests of the file end. */
export async function startSftpInbox(): Promise<SftpInbox> {
  const directory = await mkdtemp(join(tmpdir(), 'penstock-inbox-'))
  after(() => rm(directory, { recursive: true, force: true }))
  const path = join(directory, 'inbox')
  await mkdir(path)
  const [hostKey, userKey, strangeKey] = [1, 2, 3].map(() => makeSshKey('ed25519'))
  assert.ok(hostKey && userKey && strangeKey)
  const server = await startSftpServer({ hostKey: hostKey.private, username: 'acme', keys: [userKey.public] })
  after(() => server.close())
  const proxy = await startTcpProxy(server.port)
  after(() => proxy.close())
  const publicKey = Buffer.from(hostKey.public.split(' ')[1] ?? '', 'base64')
  const secrets: Values = {
    hostname: '127.0.0.1',
    port: proxy.port,
    username: 'acme',
    sshPrivateKey: userKey.private,
    hostKeyFingerprint: `SHA256:${createHash('sha256').update(publicKey).digest('base64')}`,
  }
  const files = async () => (await readdir(path)).filter((name) => !name.startsWith('.'))
  const read = (name: string) => readFile(join(path, name))
  return {
    path,
    facts: {
      testServer: 'a server of plain SFTP 3, by ssh2',
      secrets,
      wrongSecrets: { ...secrets, sshPrivateKey: strangeKey.private },
      async reset() {
        for (const name of await readdir(path)) await rm(join(path, name))
      },
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
    },
    files,
    read,
    texts: async () => Promise.all((await files()).map(async (name) => String(await read(name)))),
    async write(connector, columns, settings, batches) {
      const writer = await connector.destination?.deliver?.open(testContext({ secrets, columns, settings }))
      assert.ok(writer)
      try {
        for (const [at, batch] of batches.entries()) await writer.deliver(batchOf(columns, batch, at + 1))
        await writer.flush?.()
        await writer.finish?.()
      } finally {
        await writer.close?.()
      }
    },
  }
}
