import type { Rejection } from '@penstock/connector'
import type { Answer } from '../platform-api/call.ts'
import { isSuccess } from '../platform-api/call.ts'
import type { PlatformClient } from '../platform-api/client.ts'
import { sendInHalves, type Taken } from '../platform-api/rows/halving.ts'
import type { Refusals } from '../platform-api/rows/refusals.ts'
import { paths } from './api.ts'
import { type Accounted, accountOf, detailsOf, type HubspotRecord, refusalOf, traceOf } from './batch-results.ts'
import { isContacts, recordId } from './settings.ts'

/** The object type to write, and the property by which records are found. */
export type RecordTarget = {
  readonly client: PlatformClient
  readonly type: string
  readonly idProperty: string
  readonly columns: readonly string[]
}

/** The result of the records of a request. */
export type Written = {
  readonly bytes: number
  readonly rejected: readonly Rejection[]
  /** The accepted records, with their IDs in HubSpot. */
  readonly taken: ReadonlyMap<HubspotRecord, string>
}

/**
 * Creates or changes records. HubSpot can answer with success and name a record neither in the results nor in the errors. The
 * record is then sent once more, and rejected if HubSpot does not name it this time either. If a request is refused as a whole,
 * its halves are sent.
 */
export async function writeRecords(
  target: RecordTarget,
  records: readonly HubspotRecord[],
  refusals: Refusals,
): Promise<Written> {
  const taken = new Map<HubspotRecord, string>()
  const send = async (sent: readonly HubspotRecord[]): Promise<Taken<HubspotRecord>> => {
    const first = await write(target, sent)
    if ('refused' in first) return first
    for (const [item, id] of first.taken) taken.set(item, id)
    if (first.unnamed.length === 0) return first
    const second = await write(target, first.unnamed)
    const bytes = first.bytes + second.bytes
    if ('refused' in second) {
      const blamed = first.unnamed.map((item) => ({ item, reason: second.refused }))
      return { bytes, blamed: [...first.blamed, ...blamed] }
    }
    for (const [item, id] of second.taken) taken.set(item, id)
    const codes = second.codes === '' ? '' : ` (${second.codes})`
    const reason = `HubSpot answers that all is done${codes}, but names the row neither as stored nor as refused, also when it was sent again; check the record in HubSpot.`
    const lost = second.unnamed.map((item) => ({ item, reason }))
    return { bytes, blamed: [...first.blamed, ...second.blamed, ...lost] }
  }
  const { bytes, rejected } = await sendInHalves(records, refusals, send)
  return { bytes, rejected, taken }
}

/** Sends one request. A refusal of the whole request is returned. */
async function write(
  { client, type, idProperty, columns }: RecordTarget,
  records: readonly HubspotRecord[],
): Promise<(Accounted & { readonly bytes: number }) | { readonly bytes: number; readonly refused: string }> {
  const byId = idProperty === recordId
  const inputs = records.map((record) => ({
    ...(byId ? {} : { idProperty }),
    id: record.id,
    properties: record.properties,
    objectWriteTraceId: traceOf(record),
  }))
  // HubSpot accepts its own IDs only for changes.
  const path = `${paths.objects(type)}/batch/${byId ? 'update' : 'upsert'}`
  const answer = await client.ask({ method: 'POST', path, body: { inputs }, expects: isRefusal })
  const bytes = answer.bytesSent
  if (!isSuccess(answer)) return { bytes, refused: refusalOf(detailsOf(answer.json, columns)).reason }
  return { bytes, ...accountOf(answer, records, idProperty, columns) }
}

/** The content of the request was refused. 409: two records would have the same unique value. */
const isRefusal = ({ status }: Answer): boolean => status === 400 || status === 409

/** Finds records that are there. The others are rejected. */
export async function findRecords(
  { client, type, idProperty, columns }: RecordTarget,
  records: readonly HubspotRecord[],
): Promise<Written> {
  if (idProperty === recordId) {
    return { bytes: 0, rejected: [], taken: new Map(records.map((record) => [record, record.id])) }
  }
  const aliases = isContacts(type) && idProperty === 'email' ? ['hs_additional_emails'] : []
  const body = { idProperty, properties: [idProperty, ...aliases], inputs: records.map(({ id }) => ({ id })) }
  const path = `${paths.objects(type)}/batch/read`
  const answer = await client.ask({ method: 'POST', path, body, repeatable: true })
  const { taken } = accountOf(answer, records, idProperty, columns, aliases)
  const reason = `HubSpot has no record with this value of “${idProperty}”, so that there is nothing to remove from the list.`
  const rejected = records
    .filter((record) => !taken.has(record))
    .map(({ index }) => ({ index, reason, field: idProperty }))
  return { bytes: answer.bytesSent, rejected, taken }
}
