import { boolean, ConnectorError, number, select, text, type Values } from '@penstock/connector'
import { nextPageToken } from '../google/reporting-api.ts'
import { audienceDestination, segmentColumns } from '../kit/audience-destination.ts'
import type { AudienceDestination } from '../kit/audience-facts.ts'
import { type EventColumns, special } from '../kit/columns.ts'
import { type JsonObject, listIn, objectIn } from '../platform-api/json.ts'
import type { BatchRow } from '../platform-api/rows/batch-rows.ts'
import { type Read, wrong } from '../platform-api/rows/events.ts'
import { type AccountsOf, accountName, dataManager, destinationOf } from './data-manager.ts'
import { blamedItems } from './google-errors.ts'
import { consentColumns, consentOfRow, consentOfSettings, contactColumns, identifiersIn } from './people.ts'

/** The settings of the results, and of replacement. */
export const replaceSetting = {
  replaceExistingAudience: boolean({
    label: 'Replace existing audience',
    description: 'Each transfer removes earlier members of the list that it does not add again',
  }),
  resultWaitSeconds: number({
    keepsState: 'pace',
    label: 'Wait for results (seconds)',
    description: 'How long a transfer waits at its end for Google to report rejected members; 0 to ask once',
    min: 0,
    max: 600,
    default: 30,
  }),
}

/** The setting that says of what lists consist. */
export const audienceTypeSetting = (contact: string, devices: string) =>
  select({
    label: 'Audience type',
    description: 'Whether the list contains contact data or advertising IDs of mobile devices',
    options: [contact, devices],
    required: true,
  })

/** The app of the lists of Customer Match that consist of devices. */
export const mobileAppSetting = (audienceType: string) =>
  text({
    label: 'Mobile app ID',
    description:
      'App in which the advertising IDs were collected: its number in the App Store, or the name of its Android package. Needed to create a list',
    when: { audienceType },
  })

/** A column of devices, which only lists of devices read. */
export const deviceColumn = (description: string, synonyms: readonly string[] = []) =>
  special(description, { identifies: true, normalise: 'text', synonyms })

type CustomerLists = Pick<
  AudienceDestination,
  'slug' | 'name' | 'platform' | 'description' | 'actions' | 'notes' | 'secrets' | 'account' | 'settings' | 'columns'
> & {
  readonly accounts: AccountsOf
  /** The settings that say what people consented to: `adUserDataConsent`, `adPersonalizationConsent`. */
  readonly consents?: (settings: Values) => Values
  /** The column with the advertising ID. `undefined` if the lists consist of contact data. */
  readonly device: (settings: Values) => string | undefined
  /** The properties of a new list, without its name. Throws `invalid_setting` if a setting for them is missing. */
  readonly list: (settings: Values) => JsonObject
}

/**
 * A connector whose rows join and leave customer lists. Google accepts a request as a whole or not at all, and processes it
 * later. Members can be repeated. Names of lists are unique within an account.
 */
export function customerLists({ accounts, consents = (settings) => settings, device, list, ...facts }: CustomerLists) {
  const columns: EventColumns = { ...segmentColumns, ...contactColumns, ...facts.columns, ...consentColumns }

  const memberOf = (person: JsonObject, row: BatchRow, settings: Values): Read<JsonObject> => {
    const column = device(settings)
    if (column !== undefined) {
      const id = row.text(column)
      if (id === undefined) return wrong(`The row holds no ${column}, which this list is made of.`, column)
      if (/^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i.test(id)) return { read: { mobileData: { mobileIds: [id] } } }
      return wrong('The value is not an advertising ID of the form 8-4-4-4-12.', column)
    }
    const found = identifiersIn(person, columns)
    if ('wrong' in found) return found
    if (found.read.length > 0) return { read: { userData: { userIdentifiers: found.read } } }
    const reason = 'The row has no e-mail address, phone number or address by which Google can find the person.'
    return wrong(reason, 'email')
  }

  return audienceDestination({
    dataType: 'customer match',
    ...dataManager(accounts),
    ...facts,
    columns,
    batch: { rowsMax: 10_000, bytesMax: 8_000_000 },
    replaces: ({ replaceExistingAudience }) => replaceExistingAudience === true,
    findAccount: async ({ settings }) => accountName(accounts(settings).operating),
    finish(person, row, settings) {
      const member = memberOf(person, row, settings)
      if ('wrong' in member) return member
      // Removing a member requires no consent.
      const isAdded = row.text('action')?.toLowerCase() === 'add'
      const consent = isAdded ? consentOfRow(row, consents(settings)) : undefined
      return { read: { ...member.read, ...(consent && { consent }) } }
    },
    identity: ({ userData, mobileData }) => userData ?? mobileData,
    lists: {
      id: /^\d+$/,
      page: ({ account }, pageToken, name) => ({
        path: `/${account}/userLists`,
        query: { pageSize: '1000', filter: name && `display_name = ${JSON.stringify(name)}`, pageToken },
      }),
      found: ({ json }) =>
        listIn(objectIn(json).userLists)
          .map(objectIn)
          .map(({ id, displayName }) => ({ id, name: displayName })),
      next: nextPageToken,
      make: ({ account, settings }, name) => ({
        path: `/${account}/userLists`,
        body: { displayName: name, ...list(settings) },
      }),
      made: ({ json }) => objectIn(json).id,
      get: ({ account }, id) => ({ path: `/${account}/userLists/${id}` }),
      // The display network has the most people of a list.
      measure: {
        read({ json }) {
          const { sizeInfo, membershipStatus: status } = objectIn(json)
          return { size: objectIn(sizeInfo).displayNetworkMembersCount, status }
        },
      },
    },
    request: (members, { verb, audience, settings }) => {
      const consent = consentOfSettings(consents(settings))
      return {
        path: `/audienceMembers:${verb === 'add' ? 'ingest' : 'remove'}`,
        body: {
          destinations: [destinationOf(accounts(settings), audience)],
          audienceMembers: members,
          ...(device(settings) === undefined && { encoding: 'HEX' }),
          ...(verb === 'add' && {
            ...(consent && { consent }),
            termsOfService: { customerMatchTermsOfServiceStatus: 'ACCEPTED' },
          }),
        },
      }
    },
    answer: {
      blames: (answer, members) =>
        [...blamedItems(answer, 'member', members.length)].map(([at, reason]) => ({ at, reason })),
    },
    later: async (client, context) =>
      (await import('./later.ts')).openLater('member', accounts(context.settings), client, context),
    check: {
      credentials: 'the OAuth client and the refresh token',
      // A check answers immediately, without retries.
      account: ({ account }) => ({ path: `/${account}/userLists`, query: { pageSize: '1' }, repeatable: false }),
    },
  })
}

/** Google expects whole days, in seconds. */
export const retentionOf = ({ retentionDays }: Values): JsonObject =>
  retentionDays === undefined ? {} : { membershipDuration: `${Number(retentionDays) * 86_400}s` }

/** A list of contact data. @param source its kind in the terms of Google, with or without `DATA_SOURCE_TYPE_` */
export const contactList = (source: unknown = 'FIRST_PARTY'): JsonObject => ({
  ingestedUserListInfo: { uploadKeyTypes: ['CONTACT_ID'], contactIdInfo: { dataSourceType: dataSourceOf(source) } },
})

/** A list of devices. @param options.keySpace which devices: `IOS`, `ANDROID` */
export const deviceList = (options: { source?: unknown; appId: unknown; keySpace: unknown }): JsonObject => {
  const { source = 'FIRST_PARTY', ...app } = options
  const mobileIdInfo = { dataSourceType: dataSourceOf(source), ...app }
  return { ingestedUserListInfo: { uploadKeyTypes: ['MOBILE_ID'], mobileIdInfo } }
}

/** The same by the app only. Apps for iOS have a number, apps for Android the name of their package. */
export function deviceListOfApp({ mobileAppId }: Values): JsonObject {
  const appId = String(mobileAppId ?? '').trim()
  if (appId !== '') return deviceList({ appId, keySpace: /^\d+$/.test(appId) ? 'IOS' : 'ANDROID' })
  const message =
    'Google does not create a list of advertising IDs without the app in which they were collected; fill in “Mobile app ID”, or name an existing list in segment_id.'
  throw new ConnectorError('invalid_setting', message)
}

function dataSourceOf(setting: unknown): string {
  const source = String(setting).trim().toUpperCase()
  return source.startsWith('DATA_SOURCE_TYPE_') ? source : `DATA_SOURCE_TYPE_${source}`
}
