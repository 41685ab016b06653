import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { createEgress } from '@penstock/connector/egress'
import { loadConnector } from '@penstock/connectors/load'
import type { Stored } from '../packages/connectors/test/shopify-graphql.ts'
import {
  shopifyRoutes,
  shopifySecrets,
  shopifyShop,
  startShopify,
  throttled,
} from '../packages/connectors/test/shopify-server.ts'
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

/** From one shop to another, by the engine itself: each customer once, whatever fails on the way, also if processes are killed. */

const other = 'penstock-other'
const [from, to] = await Promise.all([startShopify(), startShopify()])
after(() => Promise.all([from.close(), to.close()]))
const storage = 'https://storage.googleapis.com'
const shops = { [`https://${shopifyShop}`]: from.url, [`https://${other}.myshopify.com`]: to.url }
/** Both have the same storage, so the results of each have a separate host here. */
from.results.url = (path) => `https://from.example${path}`
const routes = { ...shopifyRoutes(to.url), ...shops, [storage]: to.url, 'https://from.example': from.url }

const rows = 24_000
const fresh = () =>
  firstState({
    source: {
      slug: 'shopify-admin',
      secrets: shopifySecrets,
      settings: { stream: 'Customers', syncMode: 'Incremental', overlapMinutes: 0 },
    },
    destination: {
      slug: 'shopify-admin',
      secrets: { ...shopifySecrets, shop: other },
      settings: {
        matchBy: 'Email',
        mapping: JSON.stringify({ email: 'email', first_name: 'first_name', note: 'note', phone: null, locale: null }),
      },
    },
  })
const state = fresh()
const kept = { read: 0, sent: 0, rejected: 0, retries: [] as string[] }

/** Runs a transfer until it ends, or until its process is killed: before the answer to a confirmation, which is stored or not. */
async function run(id: string, killed?: { readonly atConfirmation: number; readonly stores: boolean }) {
  const kill = new AbortController()
  let confirmations = 0
  const dead = new Promise<never>(() => {})
  const store = (confirmation: Confirmation) => {
    for (const key of ['read', 'sent', 'rejected'] as const) kept[key] += confirmation[key]
    Object.assign(state, { confirmed: true, pending: null, announced: null, checkpoint: confirmation.checkpoint })
    state.read += confirmation.read
    state.cursor = confirmation.cursor ?? state.cursor
    const { deliveryState } = confirmation
    if (deliveryState !== null) state.deliveryStates = [...state.deliveryStates, deliveryState]
  }
  const isDead = Promise.withResolvers<void>()
  const host: TransferHost & SecretHost & IdentityHost & UploadHost & RejectHost & EventHost = {
    ...noUploads,
    ...noDigests,
    leaseSecret: () => assert.fail('a token renews nothing'),
    replaceSecret: () => assert.fail('a token renews nothing'),
    releaseSecret: () => assert.fail('a token renews nothing'),
    identityToken: () => assert.fail('no connector of these signs in by an identity'),
    reportColumns: async () => null,
    reportRules: async () => {},
    open: async () => structuredClone(state),
    beginBatch: async ({ columns, pending, announced }) => {
      if (columns) state.columns = columns.destination
      Object.assign(state, { pending, announced: announced ?? null })
    },
    confirm: async (confirmation: Confirmation) => {
      if (killed && ++confirmations === killed.atConfirmation) {
        if (killed.stores) store(confirmation)
        isDead.resolve()
        return await dead
      }
      store(confirmation)
      return false
    },
    reportRetry: async ({ code }) => void kept.retries.push(code),
    divide: async () => {},
    readRejects: async () => [],
  }
  const egress = createEgress({ networkPolicy: 'any', routes })
  const job = runJob(
    {
      kind: 'transfer',
      id,
      connectionId: '0f1e2d3c4b5a6979',
      connectors: ['shopify-admin'],
      retry: { firstMs: 1, mostMs: 1, totalMs: 60_000 },
      replaceShareMin: 0,
    },
    {
      runtime: { loadConnector, egress, plainHttp: { loopback: true, allow: [] }, localFolders: [] },
      host,
      signal: kill.signal,
      onProgress: () => {},
    },
  )
  if (killed) {
    await isDead.promise
    // Nothing of it is heard any more.
    job.catch(() => {})
    await egress.close()
    state.attempt++
    return
  }
  try {
    assert.deepEqual(await job, { ok: true, value: null })
  } finally {
    await egress.close()
  }
}

const customer = (n: number): Stored => ({
  id: `gid://shopify/Customer/${n}`,
  // Shopify does not accept longer names.
  firstName: n % 1000 === 999 ? 'Z'.repeat(256) : `Zoë, "${n}"\nb`,
  note: `note ${n}`,
  tags: [],
  locale: 'en',
  defaultEmailAddress: {
    emailAddress: `N${n}@Example.com`,
    marketingState: 'NOT_SUBSCRIBED',
  },
  createdAt: '2026-01-31T12:00:00Z',
  updatedAt: '2026-01-31T12:00:00Z',
})

test('every customer arrives once, or is rejected, although requests fail and processes are killed; the next transfer reads what changed', async () => {
  from.objects.customers = Array.from({ length: rows }, (_, n) => customer(n))
  const id = '0f1e2d3c4b5a6978'
  const down = { status: 500, text: '' }
  from.failure(/graphql/, throttled(0, 20))
  for (let times = 0; times < 3; times++) {
    from.failure(/GET .bulk/, times === 1 ? 'reset' : down)
    to.failure(/GET .bulk/, times === 1 ? 'reset' : down)
    to.failure(/POST .$/, times === 1 ? 'reset after' : down)
  }
  to.failure(/graphql/, 'reset after')
  for (const stores of [false, true]) for (const atConfirmation of [1, 2]) await run(id, { atConfirmation, stores })
  await run(id)
  const { read, sent, rejected, retries } = kept
  assert.deepEqual({ read, sent, rejected }, { read: rows, sent: rows, rejected: rows / 1000 })
  assert.ok(retries.length > 0, 'nothing failed')
  const stored = (to.objects.customers ?? []).map((one) => (one.defaultEmailAddress as Stored).emailAddress)
  assert.deepEqual([stored.length, new Set(stored).size], [rows - rejected, rows - rejected])
  assert.equal(to.objects.customers?.find(({ note }) => note === 'note 7')?.firstName, 'Zoë, "7"\nb')
  // One query, and the query of the process that was killed before its ID was stored. One mutation for each batch, however
  // often it was sent.
  assert.equal(from.operations.length, 2)
  const names = to.operations.map(({ query }) => query)
  assert.deepEqual([new Set(names).size, names.length], [3, 3])

  const changed = from.objects.customers[5]
  assert.ok(changed)
  Object.assign(changed, {
    firstName: 'Changed',
    updatedAt: new Date(Date.now() + 2_000).toISOString().replace(/\.\d+Z$/, 'Z'),
  })
  Object.assign(state, { ...fresh(), cursor: state.cursor })
  const before = kept.read
  await run('0f1e2d3c4b5a697a')
  assert.equal(kept.read - before, 1)
  assert.equal(to.objects.customers?.find(({ note }) => note === 'note 5')?.firstName, 'Changed')
  assert.equal(to.objects.customers?.length, rows - rejected)
})
