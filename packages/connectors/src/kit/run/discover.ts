import type { Discovered, DiscoveredPage, DiscoveryContext } from '@penstock/connector'
import { strangeCursor } from '../../discovery/pages.ts'
import { textIn } from '../../platform-api/json.ts'
import { cursorIn } from '../../platform-api/next-page.ts'
import { type Page, pagesOf } from '../../platform-api/polling.ts'
import type { AudienceDestination } from '../audience-facts.ts'
import type { Listed, Lister, Listing } from '../listing-facts.ts'
import { accountFor, withApi } from './audience-account.ts'
import { openApi } from './open-api.ts'

/**
 * One request reads at most this number of the platform's pages, for at most this time. The next request continues after them.
 */
const pagesMax = 10
const searchMs = 15_000

/** Discovers the entries of a list of the platform. */
export async function discoverListed(
  { platformApi, auth }: Lister,
  listing: Listing & { readonly id: RegExp },
  context: DiscoveryContext,
): Promise<DiscoveredPage> {
  const api = listing.platformApi ?? (typeof platformApi === 'function' ? platformApi(context) : platformApi)
  const client = await openApi(context, api, listing.auth ?? auth)
  const read = async (cursor: string | undefined): Promise<Page<Listed>> => {
    if ('read' in listing) return await listing.read(client, cursor, context)
    const answer = await client.askObject(listing.page(cursor, context))
    return { items: listing.found(answer), next: cursorIn(listing.next?.(answer, cursor), api.name) }
  }
  return await discovered(context, listing, read)
}

/** Discovers the audiences of the account, for the setting with the ID of one or for that with its name. */
export async function discoverAudiences(
  stated: AudienceDestination,
  setting: 'id' | 'name',
  context: DiscoveryContext,
): Promise<DiscoveredPage> {
  const facts = withApi(stated, context)
  const { lists, platformApi, auth } = facts
  const client = await openApi(context, platformApi, auth)
  const to = await accountFor(facts, context, client)
  const read = async (cursor: string | undefined): Promise<Page<Listed>> => {
    if (!lists.page) return { items: [], next: undefined }
    const answer = await client.askObject(lists.page(to, cursor, undefined))
    const named = (lists.found?.(answer) ?? []).map(({ id, name }) => (setting === 'id' ? { id, name } : { id: name }))
    return { items: named, next: cursorIn(lists.next?.(answer, cursor), platformApi.name) }
  }
  return await discovered(context, { kind: 'audience', id: setting === 'id' ? lists.id : /./s }, read)
}

/**
 * A page of entries that match the search, from as many pages of the platform as needed.
 * @param about the kind of the entries, and the forms of their values and of the platform's cursors
 * @param read reads a page of the platform
 */
export async function discovered(
  context: DiscoveryContext,
  about: Pick<Listing, 'kind' | 'cursor'> & { readonly id: RegExp },
  read: (cursor: string | undefined) => Promise<Page<Listed>>,
): Promise<DiscoveredPage> {
  const search = context.search.toLowerCase()
  const { cursor: from, ...begin } = placeIn(context, about.cursor)
  const untilMs = performance.now() + searchMs
  const found = new Map<string, Discovered>()
  const items = () => [...found.values()]
  let { offset } = begin
  let pages = 0
  for await (const page of pagesOf(read, from)) {
    for (; offset < page.items.length; offset++) {
      if (found.size === context.size) return { items: items(), next: placed(offset, page.cursor) }
      const { id, name, kind = about.kind }: Listed = page.items[offset] ?? { id: undefined }
      const [value, label] = [textIn(id)?.trim() ?? '', textIn(name)?.trim()]
      if (!about.id.test(value)) continue
      if (![value, label].some((text) => text?.toLowerCase().includes(search))) continue
      found.set(value, { value, kind, ...(label && label !== value && { label }) })
    }
    if (page.next === undefined) break
    offset = 0
    const isEnough = found.size === context.size || ++pages === pagesMax || performance.now() > untilMs
    if (isEnough) return { items: items(), next: placed(0, page.next) }
  }
  return { items: items() }
}

/** A place in a list: a number of entries after the beginning of a page of the platform. */
const placed = (offset: number, cursor: string | undefined): string =>
  cursor === undefined ? String(offset) : `${offset}.${cursor}`

/** Throws `invalid_setting` if the cursor was not created here. */
function placeIn({ cursor = '0' }: DiscoveryContext, form = /^/): { offset: number; cursor: string | undefined } {
  const [, offset, at] = /^(\d{1,7})(?:\.(.+))?$/s.exec(cursor) ?? []
  if (offset === undefined || (at !== undefined && !form.test(at))) {
    throw strangeCursor()
  }
  return { offset: Number(offset), cursor: at }
}
