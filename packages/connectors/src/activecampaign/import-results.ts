import { ConnectorError, type DestinationContext } from '@penstock/connector'
import type { Later } from '../kit/later.ts'
import type { PlatformClient } from '../platform-api/client.ts'
import { listIn, objectIn, textIn } from '../platform-api/json.ts'
import { poll } from '../platform-api/polling.ts'
import { rowsOf } from '../platform-api/rows/batch-rows.ts'
import { type RowBlame, rejectionsOf } from '../platform-api/rows/row-results.ts'

const notAccepted =
  'ActiveCampaign did not accept the contact; its address may be invalid, may have bounced, or may be on the exclusion list.'
const none = { batchId: '', indexes: [] }
const missing = 'ActiveCampaign stored fewer contacts; it does not report which ones are missing.'

/** ActiveCampaign goes through an import later, and then names the addresses that it did not accept. A batch waits for that within a bound. */
export function openResults(client: PlatformClient, { settings, signal }: DestinationContext): Later {
  const waits = { totalMs: Number(settings.resultWaitSeconds ?? 30) * 1000, mostMs: 5_000, signal }
  /** The import of the batch that is being delivered. */
  let taken: { batchId: string; indexes: readonly number[] } = none
  return {
    accepted({ json }, items) {
      taken = { batchId: String(objectIn(json).batchId), indexes: items.flatMap(({ rows }) => rows) }
    },
    writer: ({ deliver }) => ({
      async deliver(batch) {
        taken = none
        const delivery = await deliver(batch)
        const { batchId, indexes } = taken
        if (batchId === '') return delivery
        // A contact is recognised by its address.
        const emails = [...rowsOf(batch)].map((row) => row.text('email')?.toLowerCase() ?? '')
        const rowsBy = Map.groupBy(indexes, (index) => emails[index] ?? '')
        const blamed = await poll(() => blamedBy(client, batchId, rowsBy), waits)
        const contacts = [...rowsBy].map(([key, rows]) => ({ key, rows }))
        return { ...delivery, rejected: [...(delivery.rejected ?? []), ...rejectionsOf(contacts, blamed ?? [])] }
      },
    }),
  }
}

/** The contacts that an import did not store. `undefined` if the import is not done. */
async function blamedBy(
  client: PlatformClient,
  batchId: string,
  contacts: ReadonlyMap<string, unknown>,
): Promise<RowBlame[] | undefined> {
  const { json } = await client.askObject({ path: '/import/info', query: { batchId } })
  const { status, success, failure } = json
  if (status === 'failed' || status === 'interrupted') {
    throw new ConnectorError('platform_error', `ActiveCampaign could not process the import (${status}).`)
  }
  if (status !== 'completed') return undefined
  const failed = new Set(listIn(failure).flatMap((address) => textIn(address)?.trim().toLowerCase() ?? []))
  const named = [...failed].filter((address) => contacts.has(address))
  const count = Array.isArray(success) ? contacts.size - named.length - success.length : 0
  return [...named.map((key) => ({ key, reason: notAccepted, field: 'email' })), { count, reason: missing }]
}
