import { ConnectorError, type DestinationContext, type DestinationWriter, type Rejection } from '@penstock/connector'
import type { PlatformClient } from '../platform-api/client.ts'
import { listIn, textIn } from '../platform-api/json.ts'
import { poll } from '../platform-api/polling.ts'
import { type RowEvent, readEvents } from '../platform-api/rows/events.ts'
import { Refusals } from '../platform-api/rows/refusals.ts'
import { type RowBlame, rejectionsOf } from '../platform-api/rows/row-results.ts'
import { openActiveCampaign } from './activecampaign-api.ts'
import { type Contact, contactOf, listOf } from './contacts.ts'

/** A request may not be larger. */
const bodyBytesMax = 399_999

/**
 * Imports contacts. ActiveCampaign takes an import in as a whole or not at all, goes through it later, and then names the
 * addresses that it did not accept; a batch waits for that within a bound. A contact is recognised by its address.
 */
export async function open(context: DestinationContext): Promise<DestinationWriter> {
  const { settings, signal } = context
  const list = listOf(settings)
  const excludesAutomations = settings.excludeAutomations === true
  const waitMs = Number(settings.resultWaitSeconds ?? 30) * 1000
  const activecampaign = openActiveCampaign(context)
  const refusals = new Refusals('ActiveCampaign')
  return {
    async deliver(batch) {
      const { events, rejected } = readEvents(batch, (row) => contactOf(list, row))
      if (events.length === 0) return { bytes: 0, rejected }
      const body = JSON.stringify({
        contacts: events.map(({ event }) => event),
        ...(excludesAutomations ? { exclude_automations: true } : {}),
      })
      if (Buffer.byteLength(body) > bodyBytesMax) {
        throw new ConnectorError('batch_too_large', 'The import is too large for one request to ActiveCampaign.')
      }
      const { json, bytesSent } = await refusals.count(() =>
        activecampaign.askObject({ method: 'POST', path: '/import/bulk_import', body }),
      )
      const batchId = textIn(json.batchId)
      if (batchId === undefined || Number(json.success ?? json.Success) !== 1) {
        throw new ConnectorError('malformed_response', 'ActiveCampaign did not confirm the import.')
      }
      const result = await poll(() => resultOf(activecampaign, batchId), { totalMs: waitMs, mostMs: 5_000, signal })
      return { bytes: bytesSent, rejected: [...rejected, ...(result ? rejectedOf(events, result) : [])] }
    },
    flush: async () => undefined,
    finish: async () => {},
    abort: async () => {},
    close: async () => {},
  }
}

/** What became of an import: how many contacts were stored, if it says so, and the addresses that were not taken. */
type ImportResult = { readonly stored: number | undefined; readonly failed: readonly string[] }

async function resultOf(activecampaign: PlatformClient, batchId: string): Promise<ImportResult | undefined> {
  const { json } = await activecampaign.askObject({ path: '/import/info', query: { batchId } })
  const { status, success, failure } = json
  if (status === 'failed' || status === 'interrupted') {
    throw new ConnectorError('platform_error', `ActiveCampaign could not process the import (${status}).`)
  }
  if (status !== 'completed') return undefined
  return {
    stored: Array.isArray(success) ? success.length : undefined,
    failed: listIn(failure).flatMap((address) => textIn(address)?.trim().toLowerCase() ?? []),
  }
}

function rejectedOf(events: readonly RowEvent<Contact>[], { stored, failed }: ImportResult): Rejection[] {
  const rowsOf = Map.groupBy(events, ({ event }) => event.email.toLowerCase())
  const items = [...rowsOf].map(([key, rows]) => ({ key, rows: rows.map(({ index }) => index) }))
  const reason =
    'ActiveCampaign did not accept the contact; its address may be invalid, may have bounced, or may be on the exclusion list.'
  const blamed: RowBlame[] = failed.map((key) => ({ key, reason, field: 'email' }))
  const named = new Set(failed.filter((key) => rowsOf.has(key)))
  const unnamed = stored === undefined ? 0 : items.length - named.size - stored
  if (unnamed > 0) {
    blamed.push({
      count: unnamed,
      reason: 'ActiveCampaign stored fewer contacts; it does not report which ones are missing.',
    })
  }
  return rejectionsOf(items, blamed)
}
