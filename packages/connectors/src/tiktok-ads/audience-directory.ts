import { asConnectorError, type ConnectorContext, ConnectorError } from '@penstock/connector'
import type { PlatformClient } from '../platform-api/client.ts'
import { listIn, numberIn, objectIn, textIn } from '../platform-api/json.ts'
import { type Page, pagesOf } from '../platform-api/polling.ts'

/** An audience as TikTok lists it. */
export type TikTokAudience = {
  readonly id: string
  readonly name: string
  /** Whether identifiers are streamed into it, or come in files. */
  readonly isPartner: boolean
  /** What kind of identifiers it holds. */
  readonly calculateType: string
}

export const audienceId = /^\d{1,20}$/
/** How long the name of an audience may be. */
export const nameMax = 128
const pageSize = 100

/** All audiences of an advertiser. */
export async function* audiencesOf(client: PlatformClient, advertiser: string): AsyncGenerator<TikTokAudience> {
  async function page(cursor = '1'): Promise<Page<unknown>> {
    const { json } = await client.askObject({
      path: '/dmp/custom_audience/list/',
      query: { advertiser_id: advertiser, page: cursor, page_size: String(pageSize) },
    })
    const data = objectIn(json.data)
    const pages = numberIn(objectIn(data.page_info).total_page) ?? 1
    const items = listIn(data.list)
    const isLast = items.length === 0 || Number(cursor) >= pages
    return { items, next: isLast ? undefined : String(Number(cursor) + 1) }
  }
  for await (const { items } of pagesOf(page)) for (const item of items) yield* readAudience(item)
}

/** One audience by its ID; `undefined` where the advertiser has none. */
export async function audienceById(
  client: PlatformClient,
  advertiser: string,
  id: string,
): Promise<TikTokAudience | undefined> {
  try {
    const { json } = await client.askObject({
      path: '/dmp/custom_audience/list/',
      query: { advertiser_id: advertiser, custom_audience_ids: JSON.stringify([id]) },
    })
    return listIn(objectIn(json.data).list)
      .flatMap(readAudience)
      .find((audience) => audience.id === id)
  } catch (error) {
    // TikTok finds the ID of an audience that is gone not valid.
    if (asConnectorError(error)?.code === 'request_refused') return undefined
    throw error
  }
}

/** The audience with a name that `fits`; of several, always the same one. */
export async function audienceNamed(
  client: PlatformClient,
  advertiser: string,
  name: string,
  fits: (audience: TikTokAudience) => boolean,
): Promise<TikTokAudience | undefined> {
  const found: TikTokAudience[] = []
  for await (const audience of audiencesOf(client, advertiser)) {
    if (audience.name === name && fits(audience)) found.push(audience)
  }
  // The oldest has the lowest number; numbers are too large to compare as such.
  return found.sort((a, b) => a.id.length - b.id.length || (a.id < b.id ? -1 : 1))[0]
}

function readAudience(item: unknown): TikTokAudience[] {
  const { audience_id, name, audience_type, calculate_type, shared } = objectIn(item)
  const id = textIn(audience_id)
  const isName = typeof name === 'string'
  // What another advertiser shares cannot be changed.
  if (id === undefined || !audienceId.test(id) || !isName || shared === true) return []
  const isPartner = /partner/i.test(textIn(audience_type) ?? '')
  return [{ id, name, isPartner, calculateType: textIn(calculate_type) ?? '' }]
}

/** The advertiser that a setting names, or the only one that the token is for. */
export async function advertiserOf(context: ConnectorContext, client: PlatformClient): Promise<string> {
  const named = textIn(context.settings.advertiserId)?.trim()
  if (named) {
    if (/^\d{1,20}$/.test(named)) return named
    throw new ConnectorError('invalid_setting', 'Advertiser ID must be the number of an advertiser at TikTok.')
  }
  const { clientId, clientSecret } = context.secrets
  const { json } = await client.askObject({
    path: '/oauth2/advertiser/get/',
    query: { app_id: String(clientId ?? ''), secret: String(clientSecret ?? '') },
  })
  const ids = listIn(objectIn(json.data).list).flatMap((item) => textIn(objectIn(item).advertiser_id) ?? [])
  const [only] = ids
  if (only !== undefined && ids.length === 1) return only
  const message =
    ids.length === 0
      ? 'The access token is not for an advertiser of TikTok; grant access again for the advertiser that owns the audiences.'
      : 'The access token is for several advertisers of TikTok; fill in the Advertiser ID of the connection.'
  throw new ConnectorError('invalid_setting', message)
}
