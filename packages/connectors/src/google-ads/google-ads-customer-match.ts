import { boolean, column, defineConnector, number, select, text } from '@penstock/connector'
import { dataManagerApi } from './api-version.ts'
import { consent, consentColumns } from './consent.ts'
import { listColumns } from './list-columns.ts'
import { googleAds } from './platform.ts'
import { signIn } from './sign-in.ts'

/** Customer lists of a Google Ads account. */
export const googleAdsCustomerMatch = defineConnector({
  slug: 'google-ads-customer-match',
  name: 'Google Ads Customer Match',
  platform: googleAds,
  dataType: 'customer match',
  dataTypeCategory: 'audience activation',
  description:
    'Adds people to the customer lists of a Google Ads account, by identifiers of your own customers, or takes them out.',
  actions: ['add', 'remove'],
  notes:
    'Data moves through Google Data Manager: since 1 April 2026 the Google Ads API takes Customer Match data of no new users. The refresh token needs the scope https://www.googleapis.com/auth/datamanager; a developer token is not needed. The account must have accepted the Customer Match terms; send only people whose data you may use so. A person can stay in a list for at most 540 days; the retention is given to lists that the connector makes, and existing lists keep theirs. A connection carries either contact data or advertising IDs, never both. An address is matched only where first name, last name, country and postal code are all there, and is left out otherwise. Google goes through what it took in within hours: members that it does not use are counted as rejected where it says so while the transfer waits for its results, and later ones are not in its counts.',
  tested:
    'Our own test server, which follows what is published of Google’s token endpoint and its Data Manager API; not Google itself.',
  api: dataManagerApi,
  secrets: signIn,
  check: async (context) => {
    const { checkAudiences } = await import('./check-data-manager.ts')
    return checkAudiences((await import('./audience-plans.ts')).googleAdsCustomerMatchLists)(context)
  },
  destination: {
    deliver: {
      batch: () => ({ rowsMax: 10_000, bytesMax: 8_000_000 }),
      replaces: (settings) => settings.replaceExistingAudience === true,
      open: async (context) => {
        const { openAudiences } = await import('./deliver-audiences.ts')
        const { googleAdsCustomerMatchLists } = await import('./audience-plans.ts')
        return openAudiences(context, googleAdsCustomerMatchLists(context.settings))
      },
    },
    fields: {
      customerId: text({
        label: 'Customer ID',
        description: 'Number of the Google Ads account, as its page shows it at the top',
        required: true,
      }),
      audienceType: select({
        label: 'Audience type',
        description: 'Whether the list is made of contact data or of advertising IDs of mobile devices',
        options: ['Contact Information', 'Mobile Advertising ID'],
        required: true,
      }),
      mobileAppId: text({
        label: 'Mobile app ID',
        description:
          'App in which the advertising IDs were collected: its number in the App Store, or the name of its Android package. Needed where a list is to be made',
        when: { audienceType: 'Mobile Advertising ID' },
      }),
      retentionDays: number({
        label: 'Retention (days)',
        description: 'Days that a person stays in the list after being added',
        required: true,
        min: 1,
        max: 540,
        default: 540,
      }),
      ...consent,
      managerAccountId: text({
        label: 'Manager account ID',
        description:
          'Number of the manager account through which the user reaches the account; leave it out where the user has access directly',
      }),
      replaceExistingAudience: boolean({
        label: 'Replace existing audience',
        description: 'Whether each transfer removes the members who were in a list before it and whom it does not add',
      }),
      resultWaitSeconds: number({
        label: 'Wait for results (seconds)',
        description:
          'How long a transfer waits in the end for Google to say which members it did not use; 0 to ask once',
        min: 0,
        max: 600,
        default: 30,
      }),
    },
    records: {
      ...listColumns,
      fname: column({
        description: 'First name; it is hashed before it leaves',
        normalise: 'given-name',
        hashed: ['sha256'],
        oneOf: 'identifier',
      }),
      fname_sha256: column({
        description: 'SHA-256 of the first name',
        normalise: 'given-name',
        hashed: ['sha256'],
        oneOf: 'identifier',
      }),
      lname: column({
        description: 'Last name; it is hashed before it leaves',
        normalise: 'family-name',
        hashed: ['sha256'],
        oneOf: 'identifier',
      }),
      lname_sha256: column({
        description: 'SHA-256 of the last name',
        normalise: 'family-name',
        hashed: ['sha256'],
        oneOf: 'identifier',
      }),
      maid: column({
        description: 'Advertising ID of a mobile device, not hashed',
        oneOf: 'identifier',
        normalise: 'text',
      }),
      postal_code: column({
        description: 'Postal code, not hashed; goes with both names and the country',
        normalise: 'text',
      }),
      country_code: column({ description: 'Country as its two-letter ISO code, not hashed', normalise: 'country' }),
      ...consentColumns,
    },
  },
})
