import { createHmac } from 'node:crypto'
import { type PlatformServer, type Received, type Reply, startPlatform } from './platform-server.ts'

/**
 * The Trade Desk's endpoints for conversions, as strict as they are known to be. Real-time events: it refuses a request as a
 * whole and names by their places, from 0, the events that are not valid. Offline conversions: a signature over the very
 * bytes, the keys of the published document, one provider to a request; it answers 200 with the lines that it did not accept,
 * counted from 1.
 */

export type ConversionsServer = PlatformServer & {
  /** Real-time events that were taken. */
  readonly events: Record<string, unknown>[]
  /** Offline conversions that were taken, with their provider. */
  readonly conversions: Record<string, unknown>[]
  /** How failed lines say what they are about: by a number, by that number in a sentence, or not. */
  lines: { by: 'number' | 'message' | 'nothing' }
}

export const offlineSecrets = { advertiserSecretKey: 'ttd-secret-key' }
export const offlineToken = 'ttd-data-api-token'
export const providerId = 'acme-provider'
export const realTimeSecrets = { apiToken: 'ttd-portal-token' }
export const knownAdvertiser = 'adv1'

export async function startConversions(): Promise<ConversionsServer> {
  const events: Record<string, unknown>[] = []
  const conversions: Record<string, unknown>[] = []
  const lines: ConversionsServer['lines'] = { by: 'number' }
  const server = await startPlatform((received) => {
    switch (`${received.method} ${received.path}`) {
      case 'POST /track/realtimeconversion':
        return takeEvents(received, events)
      case 'POST /providerapi/offlineconversion':
        return denyOffline(received) ?? takeConversions(received, conversions, lines)
      default:
        return { status: 404, text: 'EndpointNotConfigured' }
    }
  })
  return Object.assign(server, { events, conversions, lines })
}

const realTimeKeys = new Set([
  ...'adv merchant_id tracker_id upixel_id event_name value currency client_ip referrer_url adid adid_type imp'.split(
    ' ',
  ),
  ...'order_id items data_processing_option privacy_settings country region metro city zip'.split(' '),
  ...Array.from({ length: 10 }, (_, n) => `td${n + 1}`),
])
const adidTypes = ['TDID', 'IDFA', 'AAID', 'DAID', 'NAID', 'IDL', 'EUID', 'UID2']

function takeEvents({ headers, json }: Received, kept: Record<string, unknown>[]): Reply {
  if (headers['content-type'] !== 'application/json') return { status: 400, text: 'Bad Request' }
  const { data, ...rest } = (json ?? {}) as Record<string, unknown>
  if (Object.keys(rest).length > 0 || !Array.isArray(data) || data.length === 0 || data.length > 100) {
    return { status: 400, json: { Message: 'The request has no events.', EventResponses: [] } }
  }
  const failed = data.flatMap((event, at) => {
    const error = errorOfEvent(event)
    const EventErrors = [{ Error: error, ErrorMessage: 'quotes jane@example.com' }]
    return error ? [{ EventIndex: at, EventErrors, EventWarnings: [], Successful: false }] : []
  })
  if (failed.length > 0) return { status: 400, json: { Message: null, EventResponses: failed } }
  kept.push(...data)
  return { json: { Message: null, EventResponses: [] } }
}

function errorOfEvent(event: Record<string, unknown>): string | undefined {
  if (Object.entries(event).some(([key, value]) => !realTimeKeys.has(key) || value === null || value === '')) {
    return 'InvalidProperty'
  }
  if (event.adv !== knownAdvertiser && event.merchant_id === undefined) return 'InvalidAdvertiser'
  if (event.tracker_id === undefined && event.upixel_id === undefined) return 'MissingTrackingTag'
  if (event.value !== undefined && typeof event.value !== 'number') return 'InvalidValue'
  if ((event.adid === undefined) !== (event.adid_type === undefined)) return 'InvalidAdId'
  if (event.adid_type !== undefined && !adidTypes.includes(String(event.adid_type))) return 'InvalidAdIdType'
  const settings = (event.privacy_settings ?? []) as Record<string, unknown>[]
  const isPrivate = settings.every((one) => one.privacy_type && one.consent_string && one.is_applicable !== undefined)
  return isPrivate ? undefined : 'InvalidPrivacySetting'
}

const offlineKeys = new Set([
  ...'TDID DAID UID2 UID2Token RampID EUID EUIDToken DataProviderUserId UserIdArray CookieMappingPartnerId'.split(' '),
  ...'OrderId ImpressionId TrackingTagId TimestampUtc Value ValueCurrency Country Region Metro City MerchantId'.split(
    ' ',
  ),
  ...'EventName LineItems PrivacySettings'.split(' '),
  ...Array.from({ length: 10 }, (_, n) => `TD${n + 1}`),
])

function denyOffline({ text, json, headers }: Received): Reply | undefined {
  const signature = createHmac('sha1', offlineSecrets.advertiserSecretKey).update(text).digest('base64')
  if (headers.ttdsignature !== signature) return { status: 401, text: 'AuthenticationFailed' }
  const token = headers['ttd-auth']
  if (token !== undefined && token !== offlineToken) return { status: 401, text: 'InvalidToken' }
  if (Buffer.byteLength(text) > 2_500_000) return { status: 413, text: 'MaxRequestSizeExceeded' }
  const { DataProviderId, Items, ...rest } = (json ?? {}) as Record<string, unknown>
  if (Object.keys(rest).length > 0) return { status: 400, text: 'SerializationFailed' }
  if (DataProviderId !== providerId) return { status: 403, text: 'DataProviderMisconfigured' }
  if (!Array.isArray(Items) || Items.length === 0) return { status: 400, json: { FailedLines: [] } }
  return undefined
}

function takeConversions(
  { json }: Received,
  kept: Record<string, unknown>[],
  { by }: ConversionsServer['lines'],
): Reply {
  const { DataProviderId, Items } = json as { DataProviderId: string; Items: Record<string, unknown>[] }
  const failed: Record<string, unknown>[] = []
  for (const [at, item] of Items.entries()) {
    if (Object.entries(item).some(([key, value]) => !offlineKeys.has(key) || value === null || value === '')) {
      return { status: 400, text: 'SerializationFailed' }
    }
    const code = codeOfItem(item)
    const about = {
      number: { ItemNumber: String(at + 1), Message: 'quotes jane@example.com', OriginalRequest: item },
      message: { Message: `Invalid conversion, item #${at + 1}` },
      nothing: { Message: 'quotes jane@example.com' },
    }
    if (code) failed.push({ ErrorCode: code, ...about[by] })
    else kept.push({ DataProviderId, ...item })
  }
  return { json: failed.length > 0 ? { FailedLines: failed } : {} }
}

const single = ['TDID', 'DAID', 'UID2', 'UID2Token', 'RampID', 'EUID', 'EUIDToken']

function codeOfItem(item: Record<string, unknown>): string | undefined {
  const given = single.filter((type) => item[type] !== undefined)
  const pairs = (item.UserIdArray ?? []) as unknown[]
  const arePairs = pairs.every((pair) => Array.isArray(pair) && pair.length === 2 && single.includes(pair[0]))
  if (given.length > 1 || !arePairs || (given.length === 1 && pairs.length > 0)) return 'InvalidUserIdTypeOrUserId'
  if (given.length === 0 && pairs.length === 0 && item.ImpressionId === undefined) {
    return 'MissingOrInvalidTDIDAndImpressionId'
  }
  if (typeof item.TrackingTagId !== 'string' || item.TrackingTagId.startsWith('unknown')) {
    return 'MissingOrInvalidTrackingTagId'
  }
  if (!/^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}Z$/.test(String(item.TimestampUtc))) return 'InvalidTimestamp'
  if (item.Value !== undefined && !/^\d+(\.\d+)?$/.test(String(item.Value))) return 'ItemDeserializationError'
  return undefined
}
