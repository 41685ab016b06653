import { digest, each, listOf, nonEmptyText, objectOf, oneOf, positiveNumber, wholeNumber } from './body-schema.ts'
import { type PlatformServer, type Received, type Reply, startPlatform } from './platform-server.ts'

/**
 * Yahoo's Conversion API, written from excerpts of its documentation: lists of events of a pixel, with digests of e-mail addresses and
 * phone numbers. It takes the events that are right, says only whether those were all, and refuses events named `Refused`.
 */
export type YahooEvents = PlatformServer & {
  /** The accepted events, by their IDs. Yahoo keeps the first of each. */
  readonly events: Map<string, Record<string, unknown>>
  /** The tokens that are good. */
  readonly accessTokens: string[]
}

export const yahooSecrets = { clientId: 'yahoo-client', clientSecret: 'yahoo-secret' }
export const yahooPixel = '10012345'
export const yahooOrigins = [
  'https://batch.datax.yahoo.com',
  'https://streaming.datax.yahoo.com',
  'https://id.b2b.yahooincapis.com',
]

const eventSchema = objectOf(
  {
    eventTs: wholeNumber,
    ...each('eventName eventId actionSourceUrl region', nonEmptyText),
    actionSource: oneOf('web app phone email physical_store'),
    country: (value) => typeof value === 'string' && /^[A-Z]{2}$/.test(value),
    userData: objectOf({
      ...each('email phone', listOf(digest)),
      ...each('gpsaid idfa pxid', listOf(nonEmptyText)),
      ...each('ip_address userAgent', nonEmptyText),
    }),
    eventData: objectOf({
      price: positiveNumber,
      products: listOf(objectOf(each('category subCategory', nonEmptyText))),
      customKeyValues: (value) => typeof value === 'object' && Object.values(value ?? {}).every(nonEmptyText),
    }),
    clickData: objectOf(each('vmcid tblci', nonEmptyText)),
    privacy: objectOf({ privacy_type: oneOf('GPP GDPR OPTOUT') }),
  },
  ['eventTs', 'eventName', 'eventId', 'actionSource'],
)

const isEvent = (event: unknown): event is Record<string, unknown> =>
  eventSchema(event) && (event as { eventName: string }).eventName !== 'Refused'

export async function startYahooEvents(): Promise<YahooEvents> {
  const events: YahooEvents['events'] = new Map()
  const accessTokens: string[] = ['yahoo-token']
  const server = await startPlatform(({ method, path, headers, json, text }: Received): Reply => {
    if (`${method} ${path}` === 'GET /') return { text: 'Yahoo' }
    if (path === '/zts/v1/oauth2/token') {
      const [, claims = ''] = (new URLSearchParams(text).get('client_assertion') ?? '').split('.')
      const { iss } = JSON.parse(Buffer.from(claims, 'base64url').toString())
      if (iss !== yahooSecrets.clientId) return { status: 401, json: { error: 'invalid_client' } }
      return { json: { access_token: accessTokens.at(-1), token_type: 'Bearer', expires_in: 3600 } }
    }
    if (headers.authorization !== `Bearer ${accessTokens.at(-1)}`) return { status: 401, json: {} }
    const pixel = /^\/v1\/events\/(\d+)$/.exec(path)?.[1]
    if (method !== 'POST' || pixel === undefined) return { status: 404, json: {} }
    if (pixel !== yahooPixel) return { status: 403, json: {} }
    if (!Array.isArray(json) || json.length === 0) return { status: 400, json: { message: 'no events' } }
    for (const event of json.filter(isEvent)) {
      const id = String(event.eventId)
      if (!events.has(id)) events.set(id, event)
    }
    return { json: { success: json.every(isEvent) ? 'COMPLETE' : 'PARTIAL', message: '' } }
  })
  return Object.assign(server, { events, accessTokens })
}
