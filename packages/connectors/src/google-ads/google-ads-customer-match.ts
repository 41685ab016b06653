import { column, defineConnector, number, select, text } from '@penstock/connector'
import { consent } from './consent.ts'
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
  notes: 'A person can stay in a list for at most 540 days.',
  secrets: signIn,
  destination: {
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
        description: 'ID of the app in which the advertising IDs were collected',
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
      maid: column({ description: 'Advertising ID of a mobile device, not hashed', oneOf: 'identifier' }),
      postal_code: column({ description: 'Postal code, not hashed; goes with both names and the country' }),
      country_code: column({ description: 'Country as its two-letter ISO code, not hashed' }),
    },
  },
})
