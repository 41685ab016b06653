import { number, secret, select, text } from '@penstock/connector'
import { asWritten, oneOf, plain } from '../kit/columns.ts'
import { eventDestination } from '../kit/event-destination.ts'
import { isObject, type JsonObject, numberIn, objectIn } from '../platform-api/json.ts'
import { dataApi } from './data-api.ts'
import { itemNumberOf, linesIn, reasonOf } from './failed-lines.ts'
import { theTradeDesk } from './platform.ts'
import { apiToken, signatureOf } from './signature.ts'
import { idColumn, idTypes } from './user-ids.ts'

/** Codes of lines, in sentences. */
const reasons: Readonly<Record<string, string>> = {
  MissingUserId: 'The Trade Desk finds no identifier in it',
  UserNotMapped: 'The Trade Desk does not know the identifier',
  DataNameTooLong: 'The name of the segment is too long for The Trade Desk',
  InvalidTtlInMinutes: 'The Trade Desk does not accept this number of days',
  InvalidParameterFormat: 'The identifier is not of the form that The Trade Desk takes',
  TargetingDataCreationLimitExceeded: 'The Trade Desk makes no more segments for this advertiser now',
  TargetingDataCountLimitExceeded: 'The advertiser has as many segments as The Trade Desk allows',
  TenantRestrictionsExternalData: 'The Trade Desk does not let this advertiser send data',
  TargetingDataDisabled: 'The segment is disabled at The Trade Desk',
  Uid2Error: 'The Trade Desk cannot use the UID2; people may have opted out',
}

const other = 'The Trade Desk did not accept it'

/** One identifier and one segment, which The Trade Desk accepts or rejects together, and their rows. */
type Change = {
  readonly type: string
  readonly id: unknown
  readonly segment: unknown
  readonly adds: boolean
  readonly places: readonly number[]
}

/** The changes of rows, one of each identifier and segment: of several rows the last one counts, and answers for them all. */
function changesOf(rows: readonly JsonObject[]): Map<string, Change> {
  const changes = new Map<string, Change>()
  for (const [place, { segment, action, ids }] of rows.entries()) {
    for (const [type, id] of Object.entries(objectIn(ids))) {
      const key = keyOf(type, id, segment)
      const places = [...(changes.get(key)?.places ?? []), place]
      changes.set(key, { type, id, segment, adds: action === 'add', places })
    }
  }
  return changes
}

const keyOf = (...parts: readonly unknown[]): string => parts.join('\n')

/**
 * The rows of the failed lines, by index, and how many lines cannot be assigned. A line repeats the identifier and the segment,
 * or has a number.
 */
function blamedIn(json: unknown, sent: readonly JsonObject[]) {
  const changes = changesOf(sent)
  const inOrder = [...changes.values()]
  const whyNot = new Map<number, { reason: string; field: string }>()
  let unknown = 0
  for (const line of linesIn(json)) {
    const type = idTypes.find((one) => typeof line[one] === 'string')
    const named = type && changes.get(keyOf(type, line[type], line.DataName))
    const change = named ?? inOrder[itemNumberOf(line) - 1]
    if (!change) unknown++
    else
      for (const place of change.places)
        whyNot.set(place, { reason: reasonOf(line, reasons, other), field: change.type })
  }
  return { whyNot, unknown }
}

/**
 * Segments of The Trade Desk, made of identifiers that you collected yourself. It creates a segment when its name is first
 * used.
 */
export const theTradeDeskFirstPartyAudiences = eventDestination({
  slug: 'the-trade-desk-first-party-audiences',
  name: 'The Trade Desk First-Party Audiences',
  platform: theTradeDesk,
  dataType: 'Audiences - Data API',
  dataTypeCategory: 'audience activation',
  description: 'Adds identifiers from your own data to segments of The Trade Desk, which are found by name or created.',
  actions: ['create', 'add', 'remove'],
  notes:
    'Before the first transfer you need an access letter and an agreement on UID2. A row may have several identifiers. E-mail addresses and phone numbers are not accepted: map them to UID2 or EUID first, or use The Trade Desk CRM Audiences. A membership ends after the configured number of days unless it is sent again.',
  tested:
    'Our own test server, which follows the published documentation of The Trade Desk’s endpoint for first-party data; not The Trade Desk itself.',
  api: { version: 'Data API v0.1 (POST /data/advertiser)', ends: 'no end is announced' },
  platformApi: dataApi,
  auth: apiToken,
  secrets: {
    advertiserId: text({
      label: 'Advertiser ID',
      description: 'ID of your advertiser at The Trade Desk',
      required: true,
    }),
    advertiserSecretKey: secret({
      label: 'Advertiser secret key',
      description: 'Secret key from the preferences of the advertiser',
      required: true,
    }),
    apiToken: secret({
      label: 'API token',
      description: 'Token from The Trade Desk that is sent with the signature; leave it empty if you have none',
    }),
  },
  settings: {
    dataCenter: select({
      label: 'Data center',
      description: 'Data center that receives the data; The Trade Desk copies it to all others',
      options: ['US West', 'US East', 'Europe', 'Asia Pacific', 'Japan', 'China'],
      default: 'US West',
    }),
    membershipDays: number({
      label: 'Days of membership',
      description: 'How many days a person stays in a segment unless added again; 30 or more are recommended',
      min: 1,
      max: 180,
      default: 90,
    }),
  },
  batch: { rowsMax: 1600, bytesMax: 1_000_000 },
  request: (rows, { settings, secrets }) => {
    const minutes = (numberIn(settings.membershipDays) ?? 90) * 24 * 60
    const items = [...changesOf(rows).values()].map(({ type, id, segment, adds }) => ({
      [type]: id,
      // A time to live of nothing ends the membership.
      Data: [{ Name: segment, TtlInMinutes: adds ? minutes : 0 }],
    }))
    const body = JSON.stringify({ AdvertiserId: String(secrets.advertiserId ?? '').trim(), Items: items })
    const headers = { ttdsignature: signatureOf(body, secrets.advertiserSecretKey) }
    return { path: '/data/advertiser', headers, body }
  },
  answer: {
    // The engine halves the batch after a refusal, because rows have no IDs that must stay the same.
    results: ({ status, json, text: content }, sent) => {
      // Of a signed request without an item, The Trade Desk looks at the signature before it misses the items.
      if (status === 400 && sent.length === 0) return []
      // If all is taken, the answer can be empty.
      if (status >= 300 || !(isObject(json) || content.trim() === '')) return undefined
      const { whyNot } = blamedIn(json, sent)
      return sent.map((_, place) => whyNot.get(place))
    },
    unnamed: ({ json }, sent) =>
      Array(blamedIn(json, sent).unknown).fill('The Trade Desk did not accept it, and did not report the row.'),
  },
  probe: { names: 'advertiser', credentials: 'advertiser secret key' },
  columns: {
    segment_name: plain('segment', 'Name of the segment; it is created if it does not exist', {
      required: true,
      lengthMax: 256,
      synonyms: ['segment', 'audience', 'audience_name', 'list_name'],
      addresses: true,
    }),
    action: oneOf('action', 'Whether the person is added or removed', {
      required: true,
      values: asWritten('add', 'remove'),
      wanted: 'add or remove',
      listed: ['add', 'remove'],
      removing: ['remove'],
    }),
    TDID: { ...idColumn('ids', 'TDID'), normalise: 'lower' },
    UID2: idColumn('ids', 'UID2'),
    DAID: idColumn('ids', 'DAID'),
    RampID: idColumn('ids', 'RampID'),
    EUID: idColumn('ids', 'EUID'),
    UID2Token: idColumn('ids', 'UID2Token'),
    EUIDToken: idColumn('ids', 'EUIDToken'),
    ID5: idColumn('ids', 'ID5'),
    NetID: idColumn('ids', 'NetID'),
    FirstID: idColumn('ids', 'FirstID'),
  },
})
