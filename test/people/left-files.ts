import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { gunzipSync } from 'node:zlib'
import ssh2 from 'ssh2'
import { startS3TestServer } from '../../packages/connectors/test/s3-server.ts'
import { startSftpServer } from '../../packages/connectors/test/sftp-server.ts'
import { type Platform, type Started, saying, whole } from './compare.ts'
import type { Person } from './people.ts'
import { plain } from './rules.ts'

/** Platforms that collect files with identifiers as they are. */

const identifierOf = ({ device }: Person) => (device.kind === 'broken' ? device.cell : plain(device, () => device.cell))

/** Files of people with an own identifier, on an SFTP server. */
export const liveRamp: Platform = {
  slug: 'liveramp-id-match',
  secrets: {},
  mapping: { AUDIENCEKEY: 'device_id', EMAIL1: { value: 'people@example.com' } },
  start: startInbox,
  origins: [],
  wants: (person) => whole({ AUDIENCEKEY: identifierOf(person) }),
  reads: () => [],
}

/** Files of memberships of segments, in a bucket. */
export const lotame: Platform = {
  slug: 'lotame-audiences',
  secrets: {},
  mapping: {
    userId: 'device_id',
    EMAIL: null,
    idType: { value: 'IDFA' },
    audienceSegments: { value: 'Buyers' },
    consent: { value: 'true' },
  },
  start: startBucket,
  origins: [],
  wants: (person) => {
    const identifier = identifierOf(person)
    return identifier !== undefined && /\s/.test(identifier) ? 'refused' : whole({ userid: identifier })
  },
  reads: () => [],
}

async function startInbox(): Promise<Started> {
  const inbox = await mkdtemp(join(tmpdir(), 'penstock-liveramp-'))
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
    settings: { path: inbox },
    files: async () => {
      const texts = await Promise.all((await readdir(inbox)).map((name) => readFile(join(inbox, name), 'utf8')))
      const lines = texts.flatMap((text) => text.split('\n').slice(1, -1))
      return lines.map((line) => saying({ AUDIENCEKEY: /^"([^"]*)"/.exec(line)?.[1] }))
    },
    close: async () => {
      server.close()
      await rm(inbox, { recursive: true })
    },
  }
}

async function startBucket(): Promise<Started> {
  const bucket = 'inbound'
  const s3 = await startS3TestServer(
    [bucket],
    [{ id: 'AKIDEXAMPLE', secret: 'wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY' }],
  )
  return {
    url: '',
    received: [],
    secrets: s3.secrets,
    settings: { outputPath: `s3://${bucket}/acme` },
    files: async () => {
      const day = new Date().toISOString().slice(0, 10).replaceAll('-', '')
      const names = (await s3.names(bucket, `acme/${day}/`)).filter((name) => name.endsWith('.json.gz'))
      const texts = await Promise.all(names.map(async (name) => gunzipSync(await s3.read(bucket, name)).toString()))
      const lines = texts.flatMap((text) => text.split('\n').filter((line) => line !== ''))
      return lines.map((line) => saying({ userid: (JSON.parse(line) as { userid: string }).userid }))
    },
    close: () => s3.close(),
  }
}
