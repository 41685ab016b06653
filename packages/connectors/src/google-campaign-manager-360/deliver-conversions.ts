import { ConnectorError, type DestinationContext, type DestinationWriter, type Values } from '@penstock/connector'
import { isObject, type JsonObject, listIn, objectIn } from '../platform-api/json.ts'
import { type RowEvent, readEvents } from '../platform-api/rows/events.ts'
import { Refusals } from '../platform-api/rows/refusals.ts'
import { rejectionsOf } from '../platform-api/rows/row-results.ts'
import { type CampaignManager, openCampaignManager } from './campaign-manager.ts'
import { type FloodlightConversion, floodlightConversionOf } from './floodlight-conversions.ts'

type Verb = FloodlightConversion['verb']
type Sent = readonly RowEvent<FloodlightConversion>[]

/**
 * New conversions are inserted, and then those of the batch that correct one are updated. Campaign Manager 360 answers for
 * each conversion at once, and keeps one of those that have the same activity, person, day and ordinal.
 *
 * Google Data Manager takes Floodlight events too, and this is not it: the connector's records are those of the Campaign
 * Manager 360 API. They have an ordinal, which distinguishes several conversions of a day, where Data Manager needs a
 * transaction ID that is different for each; and they correct conversions, which Data Manager does not do for Floodlight.
 * It also names no single events that it does not use.
 */
export async function open(context: DestinationContext): Promise<DestinationWriter> {
  const campaignManager = openCampaignManager(context)
  const refusals = new Refusals('Campaign Manager 360')
  let profile: Promise<string> | undefined
  return {
    async deliver(batch) {
      const { events, rejected } = readEvents(batch, floodlightConversionOf)
      let bytes = 0
      for (const verb of ['insert', 'update'] as const) {
        const ofVerb = events.filter(({ event }) => event.verb === verb)
        if (ofVerb.length === 0) continue
        profile ??= campaignManager.profileId()
        const path = `/userprofiles/${await profile}/conversions/batch${verb}`
        const sent = await refusals.count(() => send(campaignManager, path, verb, ofVerb, context.settings))
        bytes += sent.bytes
        const items = ofVerb.map(({ index }) => ({ rows: [index] }))
        rejected.push(...rejectionsOf(items, sent.errors.map(blameOf)))
      }
      return { bytes, rejected }
    },
    flush: async () => undefined,
    finish: async () => {},
    abort: async () => {},
    close: async () => {},
  }
}

/** What is wrong with one conversion, by its place in the request. */
type ConversionError = { readonly at: number; readonly code: string }

/** Sends conversions, and once more those at which the platform failed itself. */
async function send(
  { ask }: CampaignManager,
  path: string,
  verb: Verb,
  conversions: Sent,
  settings: Values,
): Promise<{ bytes: number; errors: ConversionError[] }> {
  let bytes = 0
  const request = async (sent: Sent): Promise<ConversionError[]> => {
    const answer = await ask({ method: 'POST', path, body: bodyOf(verb, sent, settings) })
    bytes += answer.bytesSent
    return errorsOf(answer.json, sent.length)
  }
  const first = await request(conversions)
  const failed = first.filter(({ code }) => code === 'INTERNAL').map(({ at }) => at)
  const errors = first.filter(({ code }) => code !== 'INTERNAL')
  if (failed.length > 0) {
    const again = await request(failed.flatMap((at) => conversions[at] ?? []))
    if (again.some(({ code }) => code === 'INTERNAL')) {
      throw new ConnectorError('platform_error', 'Campaign Manager 360 has an internal error with some conversions.')
    }
    errors.push(...again.map(({ at, code }) => ({ at: failed[at] ?? -1, code })))
  }
  if (errors.length === conversions.length && errors.every(({ code }) => code === 'PERMISSION_DENIED')) {
    const message =
      'The user profile may not change conversions of these Floodlight configurations; give it access to them, and the right to insert and edit offline conversions.'
    throw new ConnectorError('permission_denied', message)
  }
  return { bytes, errors }
}

function bodyOf(verb: Verb, conversions: Sent, settings: Values): JsonObject {
  const bodies = conversions.map(({ event }) => event.body)
  const isEncrypted = bodies.some(({ encryptedUserId }) => encryptedUserId !== undefined)
  return {
    kind: `dfareporting#conversionsBatch${verb === 'insert' ? 'Insert' : 'Update'}Request`,
    conversions: bodies,
    ...(isEncrypted ? { encryptionInfo: encryptionOf(settings) } : {}),
  }
}

/** With what Google has encrypted user IDs. */
function encryptionOf({ encryptionEntityType, encryptionEntityId, encryptionSource }: Values): JsonObject {
  const entityId = String(encryptionEntityId ?? '').trim()
  if (encryptionEntityType === undefined || encryptionSource === undefined || !/^\d+$/.test(entityId)) {
    const message =
      'To read encrypted user IDs, Google needs to know who encrypted them; fill in “Encryption entity type”, “Encryption entity ID” (a number) and “Encryption source”.'
    throw new ConnectorError('invalid_setting', message)
  }
  return {
    kind: 'dfareporting#encryptionInfo',
    encryptionEntityType,
    encryptionEntityId: entityId,
    encryptionSource,
  }
}

/** Which conversions an answer does not accept. Throws `malformed_response` where it does not say it of each. */
function errorsOf(json: JsonObject, sent: number): ConversionError[] {
  const statuses = listIn(json.status)
  const isWhole = statuses.length === sent && statuses.every(isObject)
  const errors = statuses.flatMap((status, at) => {
    const [error] = listIn(objectIn(status).errors).map(objectIn)
    return error === undefined ? [] : [{ at, code: codeOf(error.code) }]
  })
  const isClear = isWhole ? errors.length > 0 === (json.hasFailures === true) : json.hasFailures === false
  if (isClear && (isWhole || statuses.length === 0)) return errors
  const message = 'Campaign Manager 360 did not report whether each conversion was accepted.'
  throw new ConnectorError('malformed_response', message)
}

const codeOf = (code: unknown): string => (/^[A-Z_]{1,40}$/.test(String(code)) ? String(code) : 'UNKNOWN')

const reasons: Readonly<Record<string, string>> = {
  INVALID_ARGUMENT: 'something in it is not valid, such as its identifier, or a time more than 28 days ago',
  NOT_FOUND:
    'the click, the person, the Floodlight activity or the conversion to be corrected was not found, or happened too recently',
  PERMISSION_DENIED: 'the user profile has no access to this Floodlight configuration',
}

const blameOf = ({ at, code }: ConversionError) => {
  const why = Object.hasOwn(reasons, code) ? `: ${reasons[code]}` : ''
  return { at, reason: `Campaign Manager 360 does not accept this conversion${why} (${code}).` }
}
