import { ConnectorError, type Values } from '@penstock/connector'
import type { JsonObject } from '../platform-api/json.ts'
import { type Accounts, displayVideoAccounts, googleAdsAccounts } from './accounts.ts'

/** What the customer lists of a connection are, however its connector's settings and columns name it. */
export type AudiencePlan = Accounts & {
  /** The columns of an address; absent where a list is made of devices. */
  readonly address?: AddressColumns
  /** The column with the advertising ID; absent where a list is made of contact data. */
  readonly deviceColumn?: string
  /** What a list is made with, beside its name. Throws `invalid_setting` where the settings do not say it. */
  readonly makeList: () => JsonObject
  /** The settings that say what people consented to: `adUserDataConsent`, `adPersonalizationConsent`. */
  readonly consents: Values
  /** Whether a transfer takes the place of a list's earlier members. */
  readonly replaces: boolean
  /** How long to wait in the end for Google to say what it did not use, in milliseconds. */
  readonly waitMs: number
}

/** Where the parts of an address stand; of several columns, the first that is filled counts. */
export type AddressColumns = {
  readonly givenName: readonly string[]
  readonly familyName: readonly string[]
  readonly regionCode: readonly string[]
  readonly postalCode: readonly string[]
}

/** Google Data Manager Audiences. */
export function dataManagerAudiences(settings: Values): AudiencePlan {
  const { accountType, advertiserId, managerAccountId, audienceType, dataSourceType, appId, keySpace } = settings
  const accountsOf = accountType === 'Display & Video 360' ? displayVideoAccounts : googleAdsAccounts
  const common = {
    ...accountsOf([advertiserId, 'Advertiser ID'], [managerAccountId, 'Manager account ID']),
    ...resultsOf(settings),
    consents: settings,
  }
  const source = dataSourceOf(dataSourceType)
  if (audienceType !== 'Mobile Advertising Id') {
    const address = {
      givenName: ['first_name'],
      familyName: ['last_name'],
      regionCode: ['country'],
      postalCode: ['postal_code'],
    }
    return { ...common, address, makeList: () => contactList(source) }
  }
  return {
    ...common,
    // iOS devices are in one column and Android devices in another; a list has one kind.
    deviceColumn: keySpace === 'ANDROID' ? 'gaid' : 'idfa',
    makeList: () => deviceList({ dataSourceType: source, appId, keySpace }),
  }
}

/** Google Ads Customer Match. */
export function googleAdsCustomerMatchLists(settings: Values): AudiencePlan {
  const { customerId, managerAccountId, audienceType, mobileAppId, retentionDays } = settings
  return {
    ...googleAdsAccounts([customerId, 'Customer ID'], [managerAccountId, 'Manager account ID']),
    ...resultsOf(settings),
    ...firstPartyLists(audienceType === 'Mobile Advertising ID', mobileAppId, retentionOf(retentionDays)),
    consents: settings,
  }
}

/** Display & Video 360 Customer Match. */
export function displayVideoCustomerMatchLists(settings: Values): AudiencePlan {
  const { advertiserId, partnerId, audienceType, audienceSource, mobileAppId, retentionDays } = settings
  const described = audienceSource === undefined ? {} : { description: `Collected from: ${audienceSource}` }
  return {
    ...displayVideoAccounts([advertiserId, 'Advertiser ID'], [partnerId, 'Partner ID']),
    ...resultsOf(settings),
    ...firstPartyLists(audienceType === 'MAID', mobileAppId, { ...described, ...retentionOf(retentionDays) }),
    // Display & Video 360 takes only people who consented; a row can say otherwise.
    consents: { adUserDataConsent: 'Granted', adPersonalizationConsent: 'Granted' },
  }
}

const resultsOf = ({ replaceExistingAudience, resultWaitSeconds }: Values) => ({
  replaces: replaceExistingAudience === true,
  waitMs: Number(resultWaitSeconds ?? 0) * 1000,
})

/** The lists of the Customer Match connectors, whose columns have the same names. */
function firstPartyLists(
  areDevices: boolean,
  appId: unknown,
  options: JsonObject,
): Pick<AudiencePlan, 'address' | 'deviceColumn' | 'makeList'> {
  const source = dataSourceOf(undefined)
  if (areDevices) {
    return { deviceColumn: 'maid', makeList: () => ({ ...options, ...deviceListOfApp(source, appId) }) }
  }
  return {
    address: {
      givenName: ['fname', 'fname_sha256'],
      familyName: ['lname', 'lname_sha256'],
      regionCode: ['country_code'],
      postalCode: ['postal_code'],
    },
    makeList: () => ({ ...options, ...contactList(source) }),
  }
}

/** Google takes whole days, as seconds. */
const retentionOf = (days: unknown): JsonObject =>
  days === undefined ? {} : { membershipDuration: `${Number(days) * 86_400}s` }

const contactList = (dataSourceType: string): JsonObject => ({
  ingestedUserListInfo: { uploadKeyTypes: ['CONTACT_ID'], contactIdInfo: { dataSourceType } },
})

const deviceList = (mobileIdInfo: JsonObject): JsonObject => ({
  ingestedUserListInfo: { uploadKeyTypes: ['MOBILE_ID'], mobileIdInfo },
})

/** Apps for iOS are known by a number, apps for Android by the name of their package. */
function deviceListOfApp(dataSourceType: string, app: unknown): JsonObject {
  const appId = String(app ?? '').trim()
  if (appId === '') {
    const message =
      'Google does not create a list of advertising IDs without the app in which they were collected; fill in “Mobile app ID”, or name an existing list in segment_id.'
    throw new ConnectorError('invalid_setting', message)
  }
  return deviceList({ dataSourceType, appId, keySpace: /^\d+$/.test(appId) ? 'IOS' : 'ANDROID' })
}

function dataSourceOf(setting: unknown): string {
  const source = String(setting ?? 'FIRST_PARTY')
    .trim()
    .toUpperCase()
  return source.startsWith('DATA_SOURCE_TYPE_') ? source : `DATA_SOURCE_TYPE_${source}`
}
