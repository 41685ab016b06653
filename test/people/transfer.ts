import assert from 'node:assert/strict'
import type { Values } from '@penstock/connector'
import { createEgress } from '@penstock/connector/egress'
import { loadConnector } from '@penstock/connectors/load'
import { runJob } from '../../packages/engine/src/jobs.ts'
import type {
  Confirmation,
  EventHost,
  IdentityHost,
  KeptReject,
  RejectHost,
  SecretHost,
  TransferHost,
  UploadHost,
} from '../../packages/engine/src/protocol.ts'
import { firstState } from '../harness/first-state.ts'
import { noDigests } from '../harness/no-digests.ts'
import { noUploads } from '../harness/no-uploads.ts'

export type Destination = {
  readonly slug: string
  readonly secrets: Values
  readonly settings: Values
  /** Origins of the platform, and where the test answers for them. */
  readonly routes: Readonly<Record<string, string>>
}

export type Transferred = {
  readonly read: number
  readonly sent: number
  readonly rejected: number
  readonly rejects: readonly KeptReject[]
}

/** Moves a file to a destination with the engine itself, and keeps what a database would. Fails where the transfer does. */
export async function transferFile(folder: string, file: string, destination: Destination): Promise<Transferred> {
  const { slug, secrets, settings, routes } = destination
  const kept = { read: 0, sent: 0, rejected: 0, rejects: [] as KeptReject[] }
  const stored = firstState({
    source: { slug: 'local-folder', secrets: { folder }, settings: { files: file } },
    destination: { slug, secrets, settings },
  })
  const leases = new Map<string, string>()
  const host: TransferHost & SecretHost & IdentityHost & UploadHost & RejectHost & EventHost = {
    ...noUploads,
    ...noDigests,
    leaseSecret: async ({ key }) => {
      leases.set('lease', key)
      return { state: 'leased', leaseId: 'lease', value: String(stored.destination.secrets[key] ?? '') }
    },
    replaceSecret: async ({ leaseId, value }) => {
      const renewed = { ...stored.destination.secrets, [leases.get(leaseId) ?? '']: value }
      stored.destination = { ...stored.destination, secrets: renewed }
      return value
    },
    reportColumns: async () => null,
    reportRules: async () => {},
    releaseSecret: async () => {},
    identityToken: () => assert.fail('no connector of these signs in by an identity'),
    open: async () => structuredClone(stored),
    beginBatch: async ({ columns }) => {
      if (columns) stored.columns = columns.destination
    },
    confirm: async (confirmation: Confirmation) => {
      kept.read += confirmation.read
      kept.sent += confirmation.sent
      kept.rejected += confirmation.rejected
      kept.rejects.push(...confirmation.rejects)
      stored.confirmed = true
      stored.read += confirmation.read
      stored.checkpoint = confirmation.checkpoint
      stored.cursor = confirmation.cursor
      if (confirmation.state !== null) stored.state = confirmation.state
      if (confirmation.deliveryState !== null) {
        stored.deliveryStates = [...stored.deliveryStates, confirmation.deliveryState]
      }
      return false
    },
    reportRetry: async ({ code, message }) => assert.fail(`${slug} retries: ${code}: ${message}`),
    divide: async () => {},
    readRejects: async () => [],
  }
  const egress = createEgress({ networkPolicy: 'any', routes })
  try {
    const result = await runJob(
      {
        kind: 'transfer',
        id: '0f1e2d3c4b5a6978',
        connectionId: '0f1e2d3c4b5a6979',
        connectors: ['local-folder', slug],
        retry: { firstMs: 1, mostMs: 1, totalMs: 1 },
        replaceShareMin: 0,
      },
      {
        runtime: { loadConnector, egress, plainHttp: { loopback: true, allow: [] }, localFolders: [folder] },
        host,
        signal: new AbortController().signal,
        onProgress: () => {},
      },
    )
    assert.deepEqual(result, { ok: true, value: null })
  } finally {
    await egress.close()
  }
  return kept
}
