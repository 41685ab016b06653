import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { gunzipSync } from 'node:zlib'
import type { Values } from '@penstock/connector'
import ssh2 from 'ssh2'
import { startS3TestServer } from '../../packages/connectors/test/s3-server.ts'
import { startSftpServer } from '../../packages/connectors/test/sftp-server.ts'
import { type Platform, type Started, saying, whole } from './compare.ts'
import type { Person } from './people.ts'
import { plain } from './rules.ts'

/** Platforms that collect files, on an SFTP server or in a bucket, with unhashed identifiers. */

const identifierOf = ({ device }: Person) => (device.kind === 'broken' ? device.cell : plain(device, () => device.cell))

/** Segment files. */
export const nexxen: Platform = {
  slug: 'nexxen-audiences',
  secrets: {},
  mapping: { userIdentifier: 'device_id', categoryIds: { value: '77' } },
  start: () =>
    startInbox({ dataProviderId: '4711' }, (lines) =>
      lines.map((line) => saying({ userIdentifier: line.split('\t')[0] })),
    ),
  origins: [],
  wants: (person) => whole({ userIdentifier: identifierOf(person) }),
  reads: () => [],
}

/** Files of people with an own identifier, below a header. */
export const liveRamp: Platform = {
  slug: 'liveramp-id-match',
  secrets: {},
  mapping: { AUDIENCEKEY: 'device_id', EMAIL1: { value: 'people@example.com' } },
  start: () =>
    startInbox({}, ([, ...lines]) => lines.map((line) => saying({ AUDIENCEKEY: /^"([^"]*)"/.exec(line)?.[1] }))),
  origins: [],
  wants: (person) => whole({ AUDIENCEKEY: identifierOf(person) }),
  reads: () => [],
}

/** Files of traits. Identifiers belong to a custom data source. */
export const adobe: Platform = {
  slug: 'adobe-audience-manager',
  secrets: {},
  mapping: { userId: 'device_id', traits: { value: '77' }, removedTraits: null },
  start: () =>
    startBucket(
      { dataSourceId: '478' },
      (day) => `date=${day}/`,
      (lines) => lines.map((line) => saying({ userId: line.split('\t')[0] })),
    ),
  origins: [],
  wants: (person) => whole({ userId: identifierOf(person) }),
  reads: () => [],
}

/** Files of segment memberships, with a checksum and a file that says that the day is complete. */
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
  start: () =>
    startBucket(
      {},
      (day) => `${day.replaceAll('-', '')}/`,
      (lines) => lines.map((line) => saying({ userid: (JSON.parse(line) as { userid: string }).userid })),
    ),
  origins: [],
  wants: (person) => {
    const identifier = identifierOf(person)
    return identifier !== undefined && /\s/.test(identifier) ? 'refused' : whole({ userid: identifier })
  },
  reads: () => [],
}

const linesOf = (text: string) => text.split('\n').slice(0, -1)

/** An SFTP server with a folder for files. @param itemsOf the items about people in the lines of a file */
async function startInbox(settings: Values, itemsOf: (lines: string[]) => string[]): Promise<Started> {
  const inbox = await mkdtemp(join(tmpdir(), 'penstock-inbox-'))
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
    settings: { path: inbox, ...settings },
    files: async () => {
      const texts = await Promise.all((await readdir(inbox)).map((name) => readFile(join(inbox, name), 'utf8')))
      return texts.flatMap((text) => itemsOf(linesOf(text)))
    },
    close: async () => {
      server.close()
      await rm(inbox, { recursive: true })
    },
  }
}

/**
 * A bucket for compressed files. @param folderOf the folder of a day, which is `2026-11-26`
 * @param itemsOf the items about people in the lines of a file
 */
async function startBucket(
  settings: Values,
  folderOf: (day: string) => string,
  itemsOf: (lines: string[]) => string[],
): Promise<Started> {
  const bucket = 'inbound'
  const s3 = await startS3TestServer(
    [bucket],
    [{ id: 'AKIDEXAMPLE', secret: 'wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY' }],
  )
  return {
    url: '',
    received: [],
    secrets: s3.secrets,
    settings: { outputPath: `s3://${bucket}/acme`, ...settings },
    files: async () => {
      const folder = folderOf(new Date().toISOString().slice(0, 10))
      const names = (await s3.names(bucket, `acme/${folder}`)).filter((name) => name.endsWith('.gz'))
      const texts = await Promise.all(names.map(async (name) => gunzipSync(await s3.read(bucket, name)).toString()))
      return texts.flatMap((text) => itemsOf(linesOf(text)))
    },
    close: () => s3.close(),
  }
}
