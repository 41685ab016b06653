import { asConnectorError, ConnectorError } from '@penstock/connector'
import type { AudienceDirectory } from '../platform-api/audiences/named-audiences.ts'
import type { PlatformClient } from '../platform-api/client.ts'
import { objectIn, textIn } from '../platform-api/json.ts'
import { type Page, pagesOf, pollUntilDone } from '../platform-api/polling.ts'
import { adsOrigin, askParts, isSuccess } from './ads-api.ts'

/** What Snapchat takes as no end. */
const lifetimeDays = 9999

export type DirectoryOptions = {
  /** The ad account that owns the audiences. */
  readonly account: string
  /** How long people stay; without an end where absent. */
  readonly lifespanDays: number | undefined
  readonly signal: AbortSignal
}

/** The customer lists of an ad account. */
export function openSegments(ads: PlatformClient, options: DirectoryOptions): AudienceDirectory {
  const { account, lifespanDays = lifetimeDays, signal } = options
  const path = `/adaccounts/${encodeURIComponent(account)}/segments`

  async function page(cursor: string | undefined): Promise<Page<Readonly<Record<string, unknown>>>> {
    const query = Object.fromEntries(new URLSearchParams(cursor ?? ''))
    const { parts, json } = await askParts(ads, { path, query }, 'segments')
    return { items: parts.map(({ segment }) => objectIn(segment)), next: cursorOf(objectIn(json.paging).next_link) }
  }

  async function exists(id: string): Promise<boolean> {
    try {
      const asked = { path: `/segments/${encodeURIComponent(id)}` }
      const { parts } = await askParts(ads, asked, 'segments')
      return parts.some(
        ({ segment, sub_request_status: status }) => isSuccess(status) && textIn(objectIn(segment).id) === id,
      )
    } catch (error) {
      if (asConnectorError(error)?.code === 'object_not_found') return false
      throw error
    }
  }

  return {
    async find(name) {
      const found: { id: string; created: string }[] = []
      for await (const { items } of pagesOf(page)) {
        for (const segment of items) {
          const id = textIn(segment.id)
          if (id === undefined || segment.name !== name || segment.source_type !== 'FIRST_PARTY') continue
          found.push({ id, created: textIn(segment.created_at) ?? '' })
        }
      }
      // Names are not unique: always the oldest.
      return found.sort((a, b) => (a.created + a.id < b.created + b.id ? -1 : 1))[0]?.id
    },

    async make(name) {
      const segment = {
        name,
        description: 'Kept by Penstock',
        source_type: 'FIRST_PARTY',
        retention_in_days: lifespanDays,
        ad_account_id: account,
      }
      const { parts } = await askParts(ads, { path, method: 'POST', body: { segments: [segment] } }, 'segments')
      const [made] = parts
      const id = isSuccess(made?.sub_request_status) ? textIn(objectIn(made?.segment).id) : undefined
      if (id === undefined) {
        throw new ConnectorError('malformed_response', 'Snapchat did not return the ID of the new audience.')
      }
      // An audience takes members only some seconds after it was made.
      const visible = async () => (await exists(id)) || undefined
      await pollUntilDone('The new audience at Snapchat', visible, {
        firstMs: 250,
        mostMs: 5_000,
        totalMs: 60_000,
        signal,
      })
      return id
    },

    exists,
  }
}

/** The parameters of the next page. An address that leads elsewhere leads nowhere. */
function cursorOf(link: unknown): string | undefined {
  const url = URL.parse(textIn(link) ?? '')
  if (!url) return undefined
  if (url.origin === adsOrigin) return url.search || undefined
  throw new ConnectorError('malformed_response', 'Snapchat returned a next page that is not its own.')
}
