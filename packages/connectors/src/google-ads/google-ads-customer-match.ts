import { number } from '@penstock/connector'
import { googleSignIn } from '../google/sign-in.ts'
import {
  audienceTypeSetting,
  contactList,
  customerLists,
  deviceColumn,
  deviceListOfApp,
  mobileAppSetting,
  replaceSetting,
  retentionOf,
} from './customer-lists.ts'
import { accountSetting, googleAdsAccounts, managerAccountSetting } from './data-manager.ts'
import { consentFields, customerMatchColumns } from './people.ts'
import { googleAds } from './platform.ts'

const devices = 'Mobile Advertising ID'

/** Customer lists of a Google Ads account. */
export const googleAdsCustomerMatch = customerLists({
  slug: 'google-ads-customer-match',
  name: 'Google Ads Customer Match',
  platform: googleAds,
  description: 'Adds your customers to the customer lists of a Google Ads account, or removes them.',
  actions: ['add', 'remove'],
  notes:
    'Data moves through Google Data Manager, since the Google Ads API has not accepted Customer Match data from new users since 1 April 2026. The refresh token needs the scope https://www.googleapis.com/auth/datamanager; a developer token is not needed. The account must have accepted the Customer Match terms. Send only people whose data you may use in this way. A person can stay in a list for at most 540 days; the retention applies to lists that the connector creates, and existing lists keep theirs. A connection sends either contact data or advertising IDs, never both. An address is sent only if it has a first name, last name, country and postal code. Google processes uploads within hours. Members that it rejects while the transfer waits for the results are counted as rejected; later rejections are not counted.',
  secrets: googleSignIn('a user of the Google Ads account'),
  accounts: googleAdsAccounts,
  account: 'customerId',
  device: ({ audienceType }) => (audienceType === devices ? 'maid' : undefined),
  list: (settings) => ({
    ...retentionOf(settings),
    ...(settings.audienceType === devices ? deviceListOfApp(settings) : contactList()),
  }),
  settings: {
    customerId: accountSetting('Customer ID', 'ID of the Google Ads account, shown at the top of its page', {
      required: true,
    }),
    audienceType: audienceTypeSetting('Contact Information', devices),
    mobileAppId: mobileAppSetting(devices),
    retentionDays: number({
      label: 'Retention (days)',
      description: 'How many days a person stays in the list after being added',
      required: true,
      min: 1,
      max: 540,
      default: 540,
    }),
    ...consentFields({ required: true }),
    managerAccountId: managerAccountSetting,
    ...replaceSetting,
  },
  columns: { ...customerMatchColumns, maid: deviceColumn('Advertising ID of a mobile device, not hashed') },
})
