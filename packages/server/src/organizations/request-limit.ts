import type { Database } from '../db/database.ts'
import type { Notices } from '../db/notices.ts'
import { limitsTopic, ownLimits } from './limit-queries.ts'
import { type LimitSettings, limitDefinitions, settingOf } from './limits.ts'
import { RequestsInMinute } from './requests-in-minute.ts'

/** Counts a request. Refuses with `rate_limited` if the organization has sent too many in this minute. */
export type OrganizationRequests = (organizationId: string) => void

const name = 'requests-per-minute'

/**
 * Limits the requests of each organization to this process, over all its clients and people. Resolves when the operator's
 * limits are known. A changed limit applies within seconds.
 */
export async function limitOrganizationRequests(
  { database, notices, config }: { database: Database; notices: Notices; config: LimitSettings },
  onError: (error: unknown) => void,
): Promise<OrganizationRequests> {
  let own: ReadonlyMap<string, number> = new Map()
  const read = async () => {
    const rows = await ownLimits.all(database, { name })
    own = new Map(rows.map(({ organizationId, value }) => [organizationId, value]))
  }
  await read()
  notices.on(limitsTopic, { onMessage: () => void read().catch(onError), onReconnect: read })
  const requests = new RequestsInMinute()
  return (organizationId) => {
    const max = own.get(organizationId) ?? limitDefinitions[name].of(config)
    if (max === 0) return
    requests.count(organizationId, max, () => ({
      field: 'organization',
      message: `the organization has sent ${max} requests in this minute; ${settingOf(name, own.has(organizationId))} sets it`,
    }))
  }
}
