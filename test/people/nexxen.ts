import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import ssh2 from 'ssh2'
import { startSftpServer } from '../../packages/connectors/test/sftp-server.ts'
import { type Platform, type Started, saying, whole } from './compare.ts'
import { plain } from './rules.ts'

/** Segment files, on an SFTP server. */
export const nexxen: Platform = {
  slug: 'nexxen-audiences',
  secrets: {},
  mapping: { userIdentifier: 'device_id', categoryIds: { value: '77' } },
  start,
  origins: [],
  // Identifiers go as they are.
  wants: ({ device }) =>
    whole({ userIdentifier: device.kind === 'broken' ? device.cell : plain(device, () => device.cell) }),
  reads: () => [],
}

async function start(): Promise<Started> {
  const inbox = await mkdtemp(join(tmpdir(), 'penstock-nexxen-'))
  const [hostKey, userKey] = [1, 2].map(() => ssh2.utils.generateKeyPairSync('ed25519', {}))
  assert.ok(hostKey && userKey)
  const server = await startSftpServer({ hostKey: hostKey.private, username: 'acme', keys: [userKey.public] })
  const key = Buffer.from(hostKey.public.split(' ')[1] ?? '', 'base64')
  return {
    url: '',
    received: [],
    secrets: {
      hostname: '127.0.0.1',
      port: server.port,
      username: 'acme',
      sshPrivateKey: userKey.private,
      hostKeyFingerprint: `SHA256:${createHash('sha256').update(key).digest('base64')}`,
    },
    settings: { path: inbox, dataProviderId: '4711' },
    files: async () => {
      const texts = await Promise.all((await readdir(inbox)).map((name) => readFile(join(inbox, name), 'utf8')))
      const lines = texts.flatMap((text) => text.split('\n').slice(0, -1))
      return lines.map((line) => saying({ userIdentifier: line.split('\t')[0] }))
    },
    close: async () => {
      server.close()
      await rm(inbox, { recursive: true })
    },
  }
}
