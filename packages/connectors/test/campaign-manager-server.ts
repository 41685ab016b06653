import { googleTokens } from './data-manager-server.ts'
import { startRoutes } from './platform-routes.ts'
import type { PlatformServer, Reply } from './platform-server.ts'

/**
 * Google's token endpoint and what of the Campaign Manager 360 API (dfareporting v5) is about conversions, written from its
 * published reference: fields that it has and no others, whole numbers as texts, exactly one identifier, a status for each
 * conversion in the order of the request, and one conversion of the same activity, person, day and ordinal.
 */

type Conversion = Readonly<Record<string, unknown>>

export type CampaignManagerServer = PlatformServer & {
  /** The conversions that count, by what distinguishes them. */
  readonly conversions: Map<string, Conversion>
  /** The user profiles of the user. */
  readonly profiles: string[]
  /** Codes with which conversions fail that have this ordinal, one for each request in which they come. */
  readonly failing: Map<string, string[]>
  expireTokens(): void
}

export const floodlight = { floodlightConfigurationId: '4001', floodlightActivityId: '5001' }

/** As Google refuses a request. */
export const campaignManagerRefusal = (status: number, reason: string, message = 'may quote a value'): Reply => ({
  status,
  json: { error: { code: status, message, errors: [{ domain: 'global', reason, message }] } },
})

export async function startCampaignManager(): Promise<CampaignManagerServer> {
  const conversions: CampaignManagerServer['conversions'] = new Map()
  const profiles = ['7001']
  const failing: CampaignManagerServer['failing'] = new Map()
  const tokens = googleTokens('ddmconversions')
  return startRoutes(
    {
      open: { 'GET /': { status: 404, text: 'not found' }, ...tokens.routes },
      demands: [tokens.bearer(campaignManagerRefusal(401, 'authError'))],
      routes: {
        'GET /dfareporting/v5/userprofiles': () => {
          const items = profiles.map((profileId) => ({
            profileId,
            userName: 'jane',
            accountName: `Network ${profileId}`,
          }))
          return { json: { kind: 'dfareporting#userProfileList', items } }
        },
        'POST /dfareporting/v5/userprofiles/{profile:\\d+}/conversions/batch{verb:insert|update}': ({
          json,
          params,
        }) =>
          profiles.includes(params.profile ?? '')
            ? batch(json, params.verb === 'update' ? 'update' : 'insert', conversions, failing)
            : campaignManagerRefusal(404, 'notFound'),
      },
      unknown: campaignManagerRefusal(404, 'notFound'),
    },
    { conversions, profiles, failing, expireTokens: tokens.expire },
  )
}

const identifiers = ['gclid', 'dclid', 'matchId', 'mobileDeviceId', 'encryptedUserId', 'impressionId']
const keyFields = ['floodlightConfigurationId', 'floodlightActivityId', 'timestampMicros', 'ordinal']
const amounts = ['quantity', 'value']
const fieldsOf = {
  insert: [
    ...identifiers,
    ...keyFields,
    ...amounts,
    'customVariables',
    'adUserDataConsent',
    'limitAdTracking',
    'childDirectedTreatment',
    'treatmentForUnderage',
    'nonPersonalizedAd',
  ],
  update: [...identifiers, ...keyFields, ...amounts, 'customVariables', 'userIdentifiers'],
} as const

function batch(
  json: unknown,
  verb: 'insert' | 'update',
  conversions: Map<string, Conversion>,
  failing: Map<string, string[]>,
): Reply {
  const request = (json ?? {}) as Record<string, unknown>
  const { kind, conversions: given, encryptionInfo, ...more } = request
  const name = verb === 'insert' ? 'Insert' : 'Update'
  const isKnown = kind === `dfareporting#conversionsBatch${name}Request` && Object.keys(more).length === 0
  if (!isKnown || !Array.isArray(given) || given.length === 0 || given.length > 1_000) {
    return campaignManagerRefusal(400, 'badRequest')
  }
  const all = given as Conversion[]
  // A value of the wrong type makes the whole request unreadable.
  if (!all.every((conversion) => isReadable(conversion, verb))) return campaignManagerRefusal(400, 'parseError')
  const status = all.map((conversion) => {
    const code =
      failing.get(String(conversion.ordinal))?.shift() ?? codeOf(conversion, verb, conversions, encryptionInfo)
    if (code === undefined) {
      const key = keyOf(conversion)
      conversions.set(key, { ...conversions.get(key), ...conversion })
    }
    const errors = [{ kind: 'dfareporting#conversionError', code, message: 'may quote a value' }]
    return { kind: 'dfareporting#conversionStatus', conversion, ...(code === undefined ? {} : { errors }) }
  })
  const hasFailures = status.some((one) => 'errors' in one)
  return { json: { kind: `dfareporting#conversionsBatch${name}Response`, hasFailures, status } }
}

function isReadable(conversion: Conversion, verb: 'insert' | 'update'): boolean {
  const known: readonly string[] = fieldsOf[verb]
  const wholes = ['floodlightConfigurationId', 'floodlightActivityId', 'timestampMicros', 'quantity']
  return (
    Object.keys(conversion).every((field) => known.includes(field)) &&
    wholes.every((field) => typeof conversion[field] === 'string' && /^\d+$/.test(String(conversion[field]))) &&
    typeof conversion.value === 'number' &&
    typeof conversion.ordinal === 'string' &&
    Object.entries(conversion).every(
      ([field, value]) => !/Tracking|Treatment|Ad$/.test(field) || typeof value === 'boolean',
    )
  )
}

/** Why one conversion is not taken. */
function codeOf(
  conversion: Conversion,
  verb: 'insert' | 'update',
  conversions: ReadonlyMap<string, Conversion>,
  encryptionInfo: unknown,
): string | undefined {
  const { floodlightConfigurationId, floodlightActivityId, timestampMicros, gclid, userIdentifiers = [] } = conversion
  if (floodlightConfigurationId !== floodlight.floodlightConfigurationId) return 'PERMISSION_DENIED'
  if (floodlightActivityId !== floodlight.floodlightActivityId) return 'NOT_FOUND'
  if (identifiers.filter((field) => conversion[field] !== undefined).length !== 1) return 'INVALID_ARGUMENT'
  if (conversion.encryptedUserId !== undefined && !isEncryption(encryptionInfo)) return 'INVALID_ARGUMENT'
  if (Number(timestampMicros) > Date.now() * 1000 || String(timestampMicros).length !== 16) return 'INVALID_ARGUMENT'
  if (typeof gclid === 'string' && gclid.startsWith('unknown')) return 'NOT_FOUND'
  const digests = (userIdentifiers as Record<string, unknown>[]).map((one) => Object.values(one))
  if (!digests.every(([digest]) => /^[0-9a-f]{64}$/.test(String(digest)))) return 'INVALID_ARGUMENT'
  return verb === 'update' && !conversions.has(keyOf(conversion)) ? 'NOT_FOUND' : undefined
}

function isEncryption(info: unknown): boolean {
  const { kind, encryptionEntityType, encryptionEntityId, encryptionSource } = (info ?? {}) as Record<string, unknown>
  return (
    kind === 'dfareporting#encryptionInfo' &&
    encryptionEntityType === 'DCM_ADVERTISER' &&
    /^\d+$/.test(String(encryptionEntityId)) &&
    encryptionSource === 'AD_SERVING'
  )
}

/** Conversions of one activity, person, day and ordinal are one. */
const keyOf = (conversion: Conversion): string => {
  const day = Math.floor(Number(conversion.timestampMicros) / 86_400_000_000)
  const identifier = identifiers.map((field) => conversion[field] ?? null)
  return JSON.stringify([conversion.floodlightActivityId, identifier, day, conversion.ordinal])
}
