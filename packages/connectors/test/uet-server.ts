import { digest, each, listOf, nonEmptyText, objectOf, oneOf, positiveNumber, wholeNumber } from './body-schema.ts'
import { type PlatformServer, type Received, type Reply, startPlatform } from './platform-server.ts'

/**
 * Microsoft's UET Conversions API, written from what is published of it: one token for a tag, seconds of the past seven days,
 * a name for custom events and an address for page loads. It takes the valid events of a request and names the others.
 */
export type UetServer = PlatformServer & {
  /** The accepted events, by name and ID. Microsoft keeps the first of each. */
  readonly events: Map<string, Record<string, unknown>>
}

export const uetToken = 'uet-api-token'
export const uetTag = '187012345'

const event = objectOf(
  {
    eventType: oneOf('pageLoad custom'),
    ...each('eventName eventId eventSourceUrl referrerUrl pageTitle keywords pageLoadId', nonEmptyText),
    eventTime: wholeNumber,
    adStorageConsent: oneOf('G D'),
    userData: objectOf({
      ...each('em ph', digest),
      ...each('anonymousId externalId clientIpAddress clientUserAgent gaid idfa', nonEmptyText),
      msclkid: (value) => typeof value === 'string' && /^[0-9a-f-]{32,36}$/.test(value),
    }),
    customData: objectOf({
      ...each('eventCategory eventLabel transactionId pageType ecommCategory searchTerm', nonEmptyText),
      ...each('eventValue value ecommTotalValue', positiveNumber),
      currency: (value) => typeof value === 'string' && /^[A-Z]{3}$/.test(value),
      itemIds: listOf(nonEmptyText),
      items: listOf(objectOf({ ...each('id name', nonEmptyText), ...each('price quantity', positiveNumber) })),
    }),
  },
  ['eventType', 'eventTime', 'userData'],
)

type UetEvent = { eventType: string; eventName?: string; eventId?: string; eventTime: number; eventSourceUrl?: string }

/** The property of an event that Microsoft would not take; `undefined` if it takes the event. */
function wrongIn(one: unknown): string | undefined {
  const { userData } = one as { userData?: Record<string, unknown> }
  if (typeof userData?.msclkid === 'string' && !/^[0-9a-f-]{32,36}$/.test(userData.msclkid)) return 'UserData.Msclkid'
  if (!event(one)) return 'Event'
  const { eventType, eventName, eventTime, eventSourceUrl } = one as UetEvent
  const age = Date.now() / 1000 - eventTime
  if (age > 7 * 86_400 || age < -300) return 'EventTime'
  if (eventType === 'custom' && (eventName === undefined || eventName === 'Refused')) return 'EventName'
  return eventType === 'pageLoad' && eventSourceUrl === undefined ? 'EventSourceUrl' : undefined
}

/** An answer of Microsoft about events that it did not take. */
export const uetRefusal = (received: number | undefined, ...details: readonly (readonly [number, string])[]) => ({
  ...(received !== undefined && { eventsReceived: received }),
  error: {
    code: 'ValidationError',
    message: 'may quote jane@example.com',
    details: details.map(([index, propertyName]) => ({
      index,
      propertyName,
      attemptedValue: 'jane@example.com',
      errorMessage: 'may quote jane@example.com',
    })),
  },
  traceId: 'b2b50cf5',
})

export async function startUet(): Promise<UetServer> {
  const events: UetServer['events'] = new Map()
  const server = await startPlatform(({ method, path, headers, json }: Received): Reply => {
    if (`${method} ${path}` === 'GET /') return { text: '' }
    if (method !== 'POST' || path !== `/v1/${uetTag}/events` || headers.authorization !== `Bearer ${uetToken}`) {
      return { status: 401, json: { error: { code: 'Unauthorized', message: 'no' } } }
    }
    const { data, dataProvider, continueOnValidationError, ...others } = (json ?? {}) as Record<string, unknown>
    const isBody = Array.isArray(data) && data.length > 0 && data.length <= 1000 && typeof dataProvider === 'string'
    if (!isBody || continueOnValidationError !== true || Object.keys(others).length > 0) {
      return { status: 400, json: uetRefusal(undefined) }
    }
    const wrong = data.flatMap((one, index): [number, string][] => {
      const property = wrongIn(one)
      return property === undefined ? [] : [[index, property]]
    })
    for (const [index, one] of (data as UetEvent[]).entries()) {
      const key = `${one.eventName}\n${one.eventId}`
      if (!wrong.some(([at]) => at === index) && !events.has(key)) events.set(key, { ...one })
    }
    const received = data.length - wrong.length
    if (wrong.length === 0) return { json: { eventsReceived: received } }
    return { status: received === 0 ? 400 : 200, json: uetRefusal(received, ...wrong) }
  })
  return Object.assign(server, { events })
}
