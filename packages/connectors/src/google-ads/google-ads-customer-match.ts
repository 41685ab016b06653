import { boolean, column, defineConnector, number, select, text } from '@penstock/connector'
import { dataManagerAuthorization } from '../google/authorization.ts'
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
  description: 'Adds your customers to the customer lists of a Google Ads account, or removes them.',
  actions: ['add', 'remove'],
  notes:
    'Data moves through Google Data Manager, since the Google Ads API has not accepted Customer Match data from new users since 1 April 2026. The refresh token needs the scope https://www.googleapis.com/auth/datamanager; a developer token is not needed. The account must have accepted the Customer Match terms. Send only people whose data you may use in this way. A person can stay in a list for at most 540 days; the retention applies to lists that the connector creates, and existing lists keep theirs. A connection sends either contact data or advertising IDs, never both. An address is sent only if it has a first name, last name, country and postal code. Google processes uploads within hours. Members that it rejects while the transfer waits for the results are counted as rejected; later rejections are not counted.',
  tested:
    'Our own test server, which follows the published documentation of Google’s token endpoint and its Data Manager API; not Google itself.',
  api: dataManagerApi,
  secrets: signIn,
  authorization: dataManagerAuthorization,
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
        description: 'ID of the Google Ads account, shown at the top of its page',
        required: true,
      }),
      audienceType: select({
        label: 'Audience type',
        description: 'Whether the list consists of contact data or of advertising IDs of mobile devices',
        options: ['Contact Information', 'Mobile Advertising ID'],
        required: true,
      }),
      mobileAppId: text({
        label: 'Mobile app ID',
        description:
          'App in which the advertising IDs were collected: its number in the App Store, or the name of its Android package. Needed to create a list',
        when: { audienceType: 'Mobile Advertising ID' },
      }),
      retentionDays: number({
        label: 'Retention (days)',
        description: 'How many days a person stays in the list after being added',
        required: true,
        min: 1,
        max: 540,
        default: 540,
      }),
      ...consent,
      managerAccountId: text({
        label: 'Manager account ID',
        description:
          'ID of the manager account through which the user has access to the account; leave it empty if the user has direct access',
      }),
      replaceExistingAudience: boolean({
        label: 'Replace existing audience',
        description: 'Whether each transfer removes the earlier members of a list that it does not add',
      }),
      resultWaitSeconds: number({
        label: 'Wait for results (seconds)',
        description: 'How long a transfer waits at its end for Google to report rejected members; 0 to ask once',
        min: 0,
        max: 600,
        default: 30,
      }),
    },
    records: {
      ...listColumns,
      fname: column({
        description: 'First name; it is hashed before it is sent',
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
        description: 'Last name; it is hashed before it is sent',
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
        description: 'Postal code, not hashed; used only together with both names and the country',
        normalise: 'text',
        oneOf: 'identifier',
      }),
      country_code: column({
        description: 'Country as its two-letter ISO code, not hashed',
        normalise: 'country',
        oneOf: 'identifier',
      }),
      ...consentColumns,
    },
  },
})
