/**
 * `events:ingest` of Google's Data Manager API, written from the published protos (google/ads/datamanager/v1): fields that
 * the API has and no others, digests, times, sources, currencies and consent. If one event is bad, the whole request is
 * rejected. Errors of the account or the conversion action are reported at the first event.
 */

/** An event that was taken in. */
export type TakenEvent = Readonly<Record<string, unknown>>

/** An error of a request: the field, and the reason, which is absent for an unknown field. */
export type EventViolation = { readonly field: string; readonly reason: string | undefined }

type Fields = Readonly<Record<string, unknown>>

const requestFields = ['destinations', 'events', 'consent', 'encoding', 'validateOnly']
/** The fields of each object that events consist of, by the path to it. */
const fields: Readonly<Record<string, readonly string[]>> = {
  '': [
    'destinationReferences',
    'transactionId',
    'eventTimestamp',
    'lastUpdatedTimestamp',
    'userData',
    'consent',
    'adIdentifiers',
    'currency',
    'conversionValue',
    'conversionCount',
    'eventSource',
    'eventDeviceInfo',
    'cartData',
    'customVariables',
    'userProperties',
    'eventName',
    'eventLocation',
  ],
  adIdentifiers: ['sessionAttributes', 'gclid', 'gbraid', 'wbraid', 'landingPageDeviceInfo', 'dclid', 'impressionId'],
  eventDeviceInfo: ['userAgent', 'ipAddress', 'category', 'languageCode'],
  eventLocation: ['storeId', 'city', 'subdivisionCode', 'regionCode'],
  userProperties: ['customerType', 'customerValueBucket'],
  userData: ['userIdentifiers'],
  consent: ['adUserData', 'adPersonalization'],
  cartData: [
    'merchantId',
    'merchantFeedLabel',
    'merchantFeedLanguageCode',
    'transactionDiscount',
    'items',
    'couponCodes',
  ],
}
const sources = ['WEB', 'APP', 'IN_STORE', 'PHONE', 'MESSAGE', 'OTHER']
const currencies = ['EUR', 'USD', 'GBP', 'CHF', 'PLN']

export type EventsRequest = {
  readonly events: readonly TakenEvent[]
  readonly action: string
  readonly validateOnly: boolean
}

/** Reads a request as the API does: with what it would take in, or what is wrong with it. */
export function readEventsRequest(
  json: unknown,
  actions: ReadonlySet<string>,
  now: number,
): { request: EventsRequest } | { violations: EventViolation[]; stranger?: string } {
  const request = (json ?? {}) as Fields
  const stranger = Object.keys(request).find((field) => !requestFields.includes(field))
  if (stranger !== undefined) return { violations: [{ field: '', reason: undefined }], stranger }
  const one = (field: string, reason: string) => ({ violations: [{ field, reason }] })
  const { events, destinations, encoding, consent, validateOnly = false } = request
  if (!Array.isArray(events) || events.length === 0) return one('events', 'REQUIRED_FIELD_MISSING')
  if (events.length > 2_000) return one('events', 'TOO_MANY_EVENTS')
  const action = String((destinations as Fields[])[0]?.productDestinationId)
  if (!actions.has(action)) return one('events.events[0]', 'INVALID_CONVERSION_ACTION_ID')
  if (!isConsent(consent)) return one('consent', 'INVALID_ENUM_VALUE')
  const all = events as Fields[]
  if (all.some(({ userData }) => userData !== undefined) && encoding !== 'HEX') {
    return one('encoding', 'REQUIRED_FIELD_MISSING')
  }
  const violations = all.flatMap((event, at) =>
    violationsOf(event, now).map(({ field, reason }) => ({ field: `events.events[${at}]${field}`, reason })),
  )
  if (violations.length > 0) return { violations }
  return { request: { events: all, action, validateOnly: validateOnly === true } }
}

/** The errors of one event. A transaction ID `refused-…` stands for an event whose error only Google can find. */
function violationsOf(event: Fields, now: number): EventViolation[] {
  const unknown = unknownField(event)
  if (unknown !== undefined) return [{ field: unknown, reason: undefined }]
  const { eventTimestamp, conversionValue, currency, eventSource, consent, transactionId } = event
  const { userIdentifiers } = (event.userData ?? {}) as { userIdentifiers?: Fields[] }
  const wrong = (field: string, reason: string) => [{ field, reason }]
  if (typeof eventTimestamp !== 'string' || !/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d{1,9})?Z$/.test(eventTimestamp)) {
    return wrong('.event_timestamp', 'INVALID_FORMAT')
  }
  if (Date.parse(eventTimestamp) > now || Date.parse(eventTimestamp) < now - 90 * 86_400_000) {
    return wrong('.event_timestamp', 'EVENT_TIME_INVALID')
  }
  if (conversionValue !== undefined && typeof conversionValue !== 'number') {
    return wrong('.conversion_value', 'INVALID_NUMBER_FORMAT')
  }
  if (currency !== undefined && !currencies.includes(String(currency)))
    return wrong('.currency', 'INVALID_CURRENCY_CODE')
  if (eventSource !== undefined && !sources.includes(String(eventSource))) {
    return wrong('.event_source', 'INVALID_ENUM_VALUE')
  }
  if (!isConsent(consent)) return wrong('.consent', 'INVALID_ENUM_VALUE')
  if (transactionId !== undefined && (typeof transactionId !== 'string' || transactionId.startsWith('refused-'))) {
    return wrong('.transaction_id', 'INVALID_EVENT')
  }
  if (!userIdentifiers && !event.adIdentifiers) return wrong('', 'NO_IDENTIFIERS_PROVIDED')
  if (userIdentifiers && (userIdentifiers.length === 0 || userIdentifiers.length > 10)) {
    return wrong('.user_data', 'TOO_MANY_USER_IDENTIFIERS')
  }
  return (userIdentifiers ?? []).some((identifier) => !isIdentifier(identifier))
    ? wrong('.user_data.user_identifiers[0]', 'INVALID_SHA256_FORMAT')
    : []
}

function unknownField(event: Fields): string | undefined {
  for (const [name, known] of Object.entries(fields)) {
    const object = (name === '' ? event : event[name]) as Fields | undefined
    const odd = Object.keys(object ?? {}).find((field) => !known.includes(field))
    if (odd !== undefined) return `${name && `.${name}`}.${odd}`
  }
  return undefined
}

const isConsent = (consent: unknown): boolean =>
  Object.values((consent ?? {}) as Fields).every((value) =>
    /^CONSENT_(GRANTED|DENIED|STATUS_UNSPECIFIED)$/.test(String(value)),
  )

/** Exactly one of the three, with digests where the API wants them. */
function isIdentifier(identifier: Fields): boolean {
  const [name, ...others] = Object.keys(identifier)
  if (others.length > 0) return false
  const isDigest = (value: unknown) => typeof value === 'string' && /^[0-9a-f]{64}$/.test(value)
  if (name !== 'address') return (name === 'emailAddress' || name === 'phoneNumber') && isDigest(identifier[name])
  const { givenName, familyName, regionCode, postalCode, ...more } = identifier.address as Fields
  return (
    isDigest(givenName) &&
    isDigest(familyName) &&
    /^[A-Z]{2}$/.test(String(regionCode)) &&
    typeof postalCode === 'string' &&
    Object.keys(more).length === 0
  )
}

/** Under what an event is counted once: its transaction ID, or its click and time. */
export const keyOfEvent = (action: string, { transactionId, adIdentifiers, eventTimestamp }: TakenEvent): string =>
  JSON.stringify([action, transactionId ?? [adIdentifiers, eventTimestamp]])
