import { ConnectorError, type Values } from '@penstock/connector'
import type { AudienceDirectory } from '../platform-api/audiences/named-audiences.ts'
import { listIn, objectIn, textIn } from '../platform-api/json.ts'
import { type Page, pagesOf } from '../platform-api/polling.ts'
import { accountUrn } from './check.ts'
import type { LinkedIn } from './linkedin-api.ts'

const pageSize = 100

/** The segments of users of the ad account that the connection names. */
export function openSegments(linkedin: LinkedIn, settings: Values): AudienceDirectory {
  const account = (): string => {
    const urn = accountUrn(settings.adAccountId)
    if (urn !== undefined) return urn
    throw new ConnectorError(
      'invalid_setting',
      'Rows identify segments by name, so the connection needs the ad account ID.',
    )
  }

  async function readPage(cursor: string | undefined): Promise<Page<unknown>> {
    const start = Number(cursor ?? 0)
    const { json } = await linkedin.askObject({
      path: '/dmpSegments',
      query: { q: 'account', account: account(), start: String(start), count: String(pageSize) },
    })
    const items = listIn(json.elements)
    return { items, next: items.length === 0 ? undefined : String(start + items.length) }
  }

  return {
    async find(name) {
      const ids: string[] = []
      for await (const { items } of pagesOf(readPage)) {
        for (const { id, name: called, type } of items.map(objectIn)) {
          const found = textIn(id)
          if (found !== undefined && /^\d+$/.test(found) && called === name && (type ?? 'USER') === 'USER') {
            ids.push(found)
          }
        }
      }
      return ids.sort((a, b) => Number(a) - Number(b))[0]
    },

    async make(name) {
      const sourcePlatform = textIn(settings.sourcePlatform)
      if (sourcePlatform === undefined) {
        throw new ConnectorError(
          'invalid_setting',
          'The rows have a segment that does not exist at LinkedIn. To create it, set the source platform that LinkedIn assigned to your app in the connection; or create the segment at LinkedIn.',
        )
      }
      const { headers, json } = await linkedin.ask({
        method: 'POST',
        path: '/dmpSegments',
        body: {
          name,
          sourcePlatform,
          account: account(),
          accessPolicy: 'PRIVATE',
          type: 'USER',
          destinations: [{ destination: 'LINKEDIN' }],
        },
      })
      const id = headers.get('x-restli-id') ?? headers.get('x-linkedin-id') ?? textIn(objectIn(json).id)
      if (id !== undefined && /^\d+$/.test(id)) return id
      throw new ConnectorError('malformed_response', 'LinkedIn did not return the ID of the new segment.')
    },

    exists: (id) => segmentExists(linkedin, id),
  }
}

/** Whether LinkedIn has a segment, be it that it takes no members yet. */
export async function segmentExists(linkedin: LinkedIn, id: string): Promise<boolean> {
  const { status } = await linkedin.ask({ path: `/dmpSegments/${id}`, expects: ({ status }) => status === 404 })
  return status !== 404
}
