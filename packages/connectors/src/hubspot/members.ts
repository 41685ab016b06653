import { ConnectorError, type Rejection } from '@penstock/connector'
import type { PlatformClient } from '../platform-api/client.ts'
import { listIn, textIn } from '../platform-api/json.ts'
import { paths } from './api.ts'
import type { HubspotRecord } from './batch-results.ts'

/**
 * Adds records to a static list, or removes them from it. HubSpot ignores records that are already in it, or already missing
 * from it. Records that HubSpot does not have are rejected.
 * @param records with their IDs in HubSpot
 */
export async function changeMembers(
  client: PlatformClient,
  listId: string,
  change: 'add' | 'remove',
  records: ReadonlyMap<HubspotRecord, string>,
): Promise<{ readonly bytes: number; readonly rejected: readonly Rejection[] }> {
  if (records.size === 0) return { bytes: 0, rejected: [] }
  const body = [...new Set(records.values())]
  const path = `${paths.lists}/${listId}/memberships/${change}`
  const { json, bytesSent } = await client.askObject({ method: 'PUT', path, body })
  // HubSpot spells them so.
  const { recordIdsMissing, recordsIdsAdded, recordIdsRemoved } = json
  const said = [recordIdsMissing, recordsIdsAdded, recordIdsRemoved]
  if (!said.some(Array.isArray)) {
    throw new ConnectorError('malformed_response', 'HubSpot answered without the members that were changed.')
  }
  const missing = new Set(listIn(recordIdsMissing).flatMap((id) => textIn(id) ?? []))
  const reason = 'HubSpot does not have the record any more, so that its list was not changed.'
  const lost = [...records].filter(([, id]) => missing.has(id))
  return { bytes: bytesSent, rejected: lost.map(([{ index }]) => ({ index, reason })) }
}
