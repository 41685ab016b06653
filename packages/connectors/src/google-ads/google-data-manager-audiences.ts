import { select, text, type Values } from '@penstock/connector'
import { googleSignIn } from '../google/sign-in.ts'
import {
  audienceTypeSetting,
  contactList,
  customerLists,
  deviceColumn,
  deviceList,
  replaceSetting,
} from './customer-lists.ts'
import { accountSetting, displayVideoAccounts, googleAdsAccounts } from './data-manager.ts'
import { addressColumns, consentFields } from './people.ts'
import { googleAds } from './platform.ts'

const devices = 'Mobile Advertising Id'
const areDevices = ({ audienceType }: Values) => audienceType === devices

/** Customer lists of Google Ads or Display & Video 360, by way of Google Data Manager. */
export const googleDataManagerAudiences = customerLists({
  slug: 'google-data-manager-audiences',
  name: 'Google Data Manager Audiences',
  platform: googleAds,
  description:
    'Creates customer lists through Google Data Manager and keeps them up to date, for Google Ads or for Display & Video 360.',
  actions: ['create', 'add', 'remove', 'replace'],
  notes:
    'A connection sends either contact data or advertising IDs, never both. Google processes uploads within hours. Members that it rejects while the transfer waits for the results are counted as rejected; later rejections are not counted. Replacing removes earlier members only from lists to which the transfer added someone. An address is sent only if it has a first name, last name, country and postal code.',
  secrets: googleSignIn('a user of the Google Ads account'),
  accounts: (settings) =>
    (settings.accountType === 'Display & Video 360' ? displayVideoAccounts : googleAdsAccounts)(settings),
  account: 'advertiserId',
  // iOS devices are in one column and Android devices in another. A list contains one kind.
  device: (settings) => {
    if (!areDevices(settings)) return undefined
    return settings.keySpace === 'ANDROID' ? 'gaid' : 'idfa'
  },
  list: (settings) => {
    const { dataSourceType: source, appId, keySpace } = settings
    return areDevices(settings) ? deviceList({ source, appId, keySpace }) : contactList(source)
  },
  settings: {
    accountType: select({
      label: 'Account type',
      description: 'Which Google product the list is for',
      options: ['Google Ads', 'Display & Video 360'],
      required: true,
    }),
    advertiserId: accountSetting(
      'Account ID',
      'Customer ID of Google Ads, or advertiser ID of Display & Video 360, without dashes',
      { required: true },
    ),
    managerAccountId: accountSetting(
      'Manager account ID',
      'ID of the Google Ads manager account or the Display & Video 360 partner through which the user has access to the advertiser; leave it empty if the user has direct access',
    ),
    audienceType: audienceTypeSetting('Contact Information', devices),
    dataSourceType: text({
      label: 'Data source type',
      description: 'What kind of customer data you upload, in the terms that Data Manager uses',
      required: true,
    }),
    appId: text({
      asked: true,
      label: 'App ID',
      description: 'ID of the app in which the advertising IDs were collected',
      required: true,
      when: { audienceType: devices },
    }),
    keySpace: select({
      label: 'Key space',
      description: 'Devices that the advertising IDs come from: iOS if rows have idfa, Android if they have gaid',
      options: ['IOS', 'ANDROID'],
      labels: { IOS: 'iOS', ANDROID: 'Android' },
      required: true,
      when: { audienceType: devices },
    }),
    ...consentFields({ required: true }),
    ...replaceSetting,
  },
  columns: {
    ...addressColumns,
    idfa: deviceColumn('Advertising ID of an iOS device, not hashed'),
    gaid: deviceColumn('Advertising ID of an Android device, not hashed', ['aaid']),
  },
})
