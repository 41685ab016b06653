import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { createEgress } from '@penstock/connector/egress'
import { loadConnector } from '@penstock/connectors/load'
import {
  myDomain,
  salesforceRoutes,
  salesforceSecrets,
  startSalesforce,
} from '../packages/connectors/test/salesforce-server.ts'
import { runJob } from '../packages/engine/src/jobs.ts'
import type {
  Confirmation,
  EventHost,
  IdentityHost,
  RejectHost,
  SecretHost,
  TransferHost,
  UploadHost,
} from '../packages/engine/src/protocol.ts'
import { firstState } from './harness/first-state.ts'
import { noDigests } from './harness/no-digests.ts'
import { noUploads } from './harness/no-uploads.ts'

/** From one organization of Salesforce to another, by the engine itself: each row once, whatever fails on the way. */

const other = 'penstock-other.my.salesforce.com'
const [from, to] = await Promise.all([startSalesforce(), startSalesforce()])
after(() => Promise.all([from.close(), to.close()]))
to.instanceUrl = `https://${other}`
const routes = { ...salesforceRoutes(from.url), [`https://${other}`]: to.url }

const rows = 24_000
const state = firstState({
  source: {
    slug: 'salesforce-crm',
    secrets: { ...salesforceSecrets, myDomain },
    settings: { objectName: 'Contact', fields: 'LastName,Email,Score__c', syncMode: 'Incremental' },
  },
  destination: {
    slug: 'salesforce-crm',
    secrets: { ...salesforceSecrets, myDomain: other },
    settings: { objectName: 'Contact', operation: 'Insert' },
  },
})

async function transfer(id: string) {
  const kept = { read: 0, sent: 0, rejected: 0, retries: [] as string[] }
  const host: TransferHost & SecretHost & IdentityHost & UploadHost & RejectHost & EventHost = {
    ...noUploads,
    ...noDigests,
    leaseSecret: () => assert.fail('client credentials renew nothing'),
    replaceSecret: () => assert.fail('client credentials renew nothing'),
    releaseSecret: () => assert.fail('client credentials renew nothing'),
    identityToken: () => assert.fail('no connector of these signs in by an identity'),
    reportColumns: async () => null,
    reportRules: async () => {},
    open: async () => structuredClone(state),
    beginBatch: async ({ columns, pending, announced }) => {
      if (columns) state.columns = columns.destination
      Object.assign(state, { pending, announced: announced ?? null })
    },
    confirm: async (confirmation: Confirmation) => {
      for (const key of ['read', 'sent', 'rejected'] as const) kept[key] += confirmation[key]
      Object.assign(state, { confirmed: true, pending: null, announced: null, checkpoint: confirmation.checkpoint })
      state.read += confirmation.read
      state.cursor = confirmation.cursor ?? state.cursor
      state.state = confirmation.state ?? state.state
      const { deliveryState } = confirmation
      if (deliveryState !== null) state.deliveryStates = [...state.deliveryStates, deliveryState]
      return false
    },
    reportRetry: async ({ code }) => void kept.retries.push(code),
    divide: async () => {},
    readRejects: async () => [],
  }
  const egress = createEgress({ networkPolicy: 'any', routes })
  try {
    const result = await runJob(
      {
        kind: 'transfer',
        id,
        connectionId: '0f1e2d3c4b5a6979',
        connectors: ['salesforce-crm'],
        retry: { firstMs: 1, mostMs: 1, totalMs: 60_000 },
        replaceShareMin: 0,
      },
      {
        runtime: { loadConnector, egress, plainHttp: { loopback: true, allow: [] }, localFolders: [] },
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

test('every record arrives once, or is rejected, although requests fail; the next transfer reads what changed', async () => {
  for (let n = 0; n < rows; n++) {
    const isBad = n % 1000 === 999
    from.records.push({
      Id: `003${String(n).padStart(12, '0')}AAA`,
      LastName: `Zoë, "${n}"`,
      Email: isBad ? 'none' : `${n}@example.com`,
      Score__c: '1.50',
      IsDeleted: 'false',
      SystemModstamp: '2026-01-31T12:00:00.000Z',
    })
  }
  const down = { status: 500, json: [{ errorCode: 'UNKNOWN_EXCEPTION' }] }
  for (let times = 0; times < 3; times++) {
    from.failure(/GET .*results$/, down)
    to.failure(/GET .*ingest\/750\w+$/, down)
    to.failure(/failedResults$/, 'reset')
  }
  to.failure(/PUT .*batches$/, 'reset after')
  to.failure(/PATCH /, 'reset after')
  const { read, sent, rejected, retries } = await transfer('0f1e2d3c4b5a6978')
  assert.deepEqual({ read, sent, rejected }, { read: rows, sent: rows, rejected: rows / 1000 })
  assert.ok(retries.length > 0, 'nothing failed')
  const names = to.records.map(({ LastName }) => LastName)
  assert.equal(names.length, rows - rejected)
  assert.equal(new Set(names).size, names.length)
  assert.equal(from.queries.length, 1)

  const [changed] = from.records
  assert.ok(changed)
  Object.assign(changed, { LastName: 'Changed', SystemModstamp: new Date().toISOString() })
  Object.assign(state, { checkpoint: null, read: 0, confirmed: false, columns: null, deliveryStates: [] })
  state.startedTime = new Date().toISOString()
  assert.equal((await transfer('0f1e2d3c4b5a697a')).read, 1)
  assert.equal(to.records.at(-1)?.LastName, 'Changed')
})
