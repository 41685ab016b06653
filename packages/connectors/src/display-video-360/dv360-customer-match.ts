import { number, select } from '@penstock/connector'
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
} from '../google-ads/customer-lists.ts'
import { accountSetting, displayVideoAccounts } from '../google-ads/data-manager.ts'
import { customerMatchColumns } from '../google-ads/people.ts'
import { displayVideo360 } from './platform.ts'

/** Customer lists of Display & Video 360, to target or to exclude. */
export const dv360CustomerMatch = customerLists({
  slug: 'dv360-customer-match',
  name: 'Display & Video 360 Customer Match',
  platform: displayVideo360,
  description:
    'Creates customer lists in Display & Video 360 and keeps them up to date, so that campaigns can target or exclude these people.',
  actions: ['add', 'remove'],
  notes:
    'Data moves through Google Data Manager, as Google recommends for Customer Match of Display & Video 360. The refresh token needs the scope https://www.googleapis.com/auth/datamanager. Every upload declares that consent was granted, so send only people who gave it. If a row says otherwise, Google does not use it. The Customer Match terms must be accepted. The retention, at most 540 days, applies to lists that the connector creates; existing lists keep theirs. A connection sends either contact data or advertising IDs, never both. First name, last name, postal code and country are sent only if a row has all four. Google processes uploads within hours. Members that it rejects while the transfer waits for the results are counted as rejected; later rejections are not counted.',
  secrets: googleSignIn('a user of Display & Video 360'),
  accounts: displayVideoAccounts,
  account: 'advertiserId',
  // Display & Video 360 accepts only people who consented. A row can override that.
  consents: () => ({ adUserDataConsent: 'Granted', adPersonalizationConsent: 'Granted' }),
  device: ({ audienceType }) => (audienceType === 'MAID' ? 'maid' : undefined),
  list: (settings) => ({
    ...(settings.audienceSource !== undefined && { description: `Collected from: ${settings.audienceSource}` }),
    ...retentionOf(settings),
    ...(settings.audienceType === 'MAID' ? deviceListOfApp(settings) : contactList()),
  }),
  settings: {
    advertiserId: accountSetting(
      'Advertiser ID',
      'ID of the advertiser, which must belong to the partner of the user who signed in',
      { required: true },
    ),
    audienceSource: select({
      label: 'Audience source',
      description: 'Where the people in the list come from',
      options: ['CRM', 'Website', 'App'],
    }),
    audienceType: audienceTypeSetting('Contact Info', 'MAID'),
    retentionDays: number({
      label: 'Retention (days)',
      description: 'How many days a person stays in the list after being added',
      required: true,
      min: 1,
    }),
    partnerId: accountSetting(
      'Partner ID',
      'ID of the partner through which the user has access to the advertiser; leave it empty if the user has direct access',
    ),
    mobileAppId: mobileAppSetting('MAID'),
    ...replaceSetting,
  },
  columns: { maid: deviceColumn('Advertising ID of a mobile device, not hashed'), ...customerMatchColumns },
})
