import { randomBytes } from 'node:crypto'
import { type KeptReject, nothingSkipped } from '@penstock/engine'
import type { Database } from '../../packages/server/src/db/database.ts'
import { newIdentifier } from '../../packages/server/src/identifiers.ts'
import type { Keyring } from '../../packages/server/src/secrets/keyring.ts'
import * as endings from '../../packages/server/src/transfers/ending-queries.ts'
import { insertTransfer, wakeWorkers } from '../../packages/server/src/transfers/queries.ts'
import { claimAlone } from '../../packages/server/src/transfers/supervisor/claim.ts'
import * as claims from '../../packages/server/src/transfers/supervisor/claim-queries.ts'
import { LedgerWriter, transferKeys } from '../../packages/server/src/transfers/supervisor/ledger-writer.ts'
import * as engine from '../../packages/server/src/transfers/supervisor/queries.ts'
import { thisProgram } from '../../packages/server/src/transfers/supervisor/versions.ts'

/** Statements of a worker, without the data. */

export type Connection = {
  readonly id: string
  readonly accountId: string
  readonly organizationId: string
  readonly srcConnectorId: string
  readonly destConnectorId: string
  readonly srcConfigurationId: string
  readonly destConfigurationId: string
}

/** The columns of `connections` for a `Connection`. */
export const connectionColumns = `id, account_id as "accountId", organization_id as "organizationId",
  src_connector_id as "srcConnectorId", dest_connector_id as "destConnectorId",
  src_configuration_id as "srcConfigurationId", dest_configuration_id as "destConfigurationId"`

const columns = ['id', 'email', 'phone', 'first_name', 'last_name', 'city', 'zip', 'country', 'born', 'amount']
const covered = 1000
const claimLimits = {
  perAccount: 1_000_000,
  perPlatform: 1,
  perTransfer: 4,
  platformConnectors: '[]',
  fullOrganizations: [],
  fullAccounts: [],
  perOrganization: 0,
  worker: 'bench',
}

/** Queues a transfer, as a schedule does. */
export async function queue(db: Database, connection: Connection): Promise<string> {
  const id = newIdentifier()
  const { id: connectionId, ...of } = connection
  await db.transaction(async (tx) => {
    const none = {
      replayOf: null,
      replayRows: null,
      srcConfig: '{}',
      destConfig: '{}',
      confirmed: false,
      testRows: null,
      backfill: null,
      tables: null,
      traceparent: null,
    }
    await insertTransfer.first(tx, { id, connectionId, ...of, ...none, trigger: 'schedule' })
    await wakeWorkers.run(tx, {})
  })
  return id
}

/** Claims the next transfer, as a worker does. */
export async function claim(db: Database): Promise<string | undefined> {
  return (await claimAlone(db, { ...claimLimits, ...(await thisProgram()) }))?.id
}

/** Opens a claimed transfer, to confirm batches of it. */
export async function openTransfer(db: Database, keyring: Keyring, id: string) {
  const work = await claims.findWork.first(db, { id, part: 1, parts: 1 })
  if (!work) throw new Error('The claimed transfer does not exist')
  const { attempt } = work
  const stored = { read: 0, entries: 0, keptRejects: 0, lastReject: 0, rejectsMax: 10_000 }
  const keys = transferKeys(keyring, work)
  const ledger = new LedgerWriter(db, keys, work, stored)
  let first = 1
  return {
    /** Announces the first batch, with the columns. */
    async begin(): Promise<void> {
      const names = JSON.stringify(columns)
      const candidate = keys.transfer.candidate()
      await engine.beginFirstBatch.first(db, {
        id,
        attempt,
        pending: covered,
        announced: null,
        sourceColumns: names,
        columns: names,
        shape: null,
        dataKeyId: candidate?.id ?? null,
        keyId: candidate?.keyId ?? null,
        planSealed: null,
        sealed: candidate?.sealed ?? null,
      })
      if (candidate) keys.transfer.use(candidate)
    },
    /** A batch of 1,000 records, some of them rejected, is confirmed, and the next one announced. */
    async deliver(rejected = 0): Promise<void> {
      const confirmation = {
        read: covered,
        sent: covered - rejected,
        rejected,
        bytes: 120_000,
        removed: 0,
        skipped: nothingSkipped,
        progress: 0.5,
        checkpoint: {
          at: { file: 'orders/2026-11-21.csv', byte: first * 120, row: first + covered },
          skip: 0,
          bytes: 120_000,
        },
        deliveryState: { batch: first, session: 'session-of-the-destination' },
        cursor: null,
        state: null,
        digests: null,
        outcomes: [],
        superseded: [],
        rejects: Array.from({ length: rejected }, (_, index) => rejectOf(first + index)),
      }
      await ledger.confirm(confirmation, [], { pending: covered })
      first += covered
    },
    async end(): Promise<void> {
      const noError = { code: null, message: null, side: null }
      await endings.endTransfer.first(db, { id, attempt, status: 'succeeded', ...noError, cursor: null })
    },
  }
}

function rejectOf(row: number): KeptReject {
  const raw = columns.map(() => randomBytes(6).toString('hex'))
  const record = Object.fromEntries(columns.map((name) => [name, '… (12)']))
  return {
    row,
    place: null,
    count: 1,
    field: 'email',
    reason: 'is no e-mail address',
    others: [],
    record: JSON.stringify(record),
    raw: JSON.stringify(raw),
    structural: false,
    key: null,
    superseded: false,
  }
}
