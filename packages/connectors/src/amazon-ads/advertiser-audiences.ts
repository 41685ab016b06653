import { createHash } from 'node:crypto'
import { ConnectorError, type DestinationContext } from '@penstock/connector'
import type { Later } from '../kit/later.ts'
import type { PlatformClient } from '../platform-api/client.ts'
import { type JsonObject, listIn, objectIn, textIn } from '../platform-api/json.ts'
import { poll } from '../platform-api/polling.ts'
import { type RowBlame, rejectionsOf, type SentItem } from '../platform-api/rows/row-results.ts'

/** The kind of all requests of the Advertiser audiences API. */
export const mediaType = 'application/vnd.amcaudiences.v1+json'

/** Your own ID of an audience, as Amazon stores it: the same for the same name in the same account. */
export const externalAudienceIdOf = (account: string, name: string): string =>
  createHash('sha256').update(`${account} ${name}`).digest('hex').slice(0, 32)

/**
 * Amazon processes uploads later, and then names the people whose data it could not read. A batch waits for that as long as
 * the connection says.
 */
export function openUploads(client: PlatformClient, { settings, signal }: DestinationContext): Later {
  const totalMs = Number(settings.resultWaitSeconds ?? 0) * 1000
  /** The uploads of the batch that is being delivered. */
  let uploads: { jobId: string; people: readonly SentItem[] }[] = []
  return {
    accepted({ json }, people) {
      const jobId = textIn(objectIn(json).jobRequestId)
      if (jobId === undefined || !/^[\w-]{1,128}$/.test(jobId)) {
        throw new ConnectorError('malformed_response', 'Amazon did not return the ID of the upload.')
      }
      uploads.push({ jobId, people })
    },
    writer: ({ deliver, ...rest }) => ({
      ...rest,
      async deliver(batch) {
        uploads = []
        const delivery = await deliver(batch)
        if (totalMs === 0) return delivery
        const until = performance.now() + totalMs
        const rejected = [...(delivery.rejected ?? [])]
        for (const { jobId, people } of uploads) {
          const waits = { totalMs: Math.max(0, until - performance.now()), mostMs: 10_000, signal }
          rejected.push(...rejectionsOf(people, (await poll(() => blamedBy(client, jobId), waits)) ?? []))
        }
        return { ...delivery, rejected }
      },
    }),
  }
}

/** The people whom Amazon could not add or remove. `undefined` if the job is not done. */
async function blamedBy(client: PlatformClient, jobId: string): Promise<RowBlame[] | undefined> {
  const { json } = await client.askObject({ path: `/amc/audiences/records/${jobId}`, headers: { accept: mediaType } })
  if (json.jobState === 'PENDING') return undefined
  if (json.jobState === 'FAILED') {
    throw new ConnectorError('platform_error', 'Amazon could not process the upload (FAILED).')
  }
  return listIn(json.invalidRecords).flatMap((record): RowBlame[] => {
    const key = textIn((objectIn(record) as JsonObject).externalId)
    return key === undefined ? [] : [{ key, reason: 'Amazon could not process the identifiers of the person.' }]
  })
}
