import { boolean, column, defineConnector, number, select, text } from '@penstock/connector'
import { dataManagerApi } from '../google-ads/api-version.ts'
import { consentColumns } from '../google-ads/consent.ts'
import { displayVideo360 } from './platform.ts'
import { signIn } from './sign-in.ts'

/** Customer lists of Display & Video 360, to target or to leave out. */
export const dv360CustomerMatch = defineConnector({
  slug: 'dv360-customer-match',
  name: 'Display & Video 360 Customer Match',
  platform: displayVideo360,
  dataType: 'customer match',
  dataTypeCategory: 'audience activation',
  description:
    'Creates customer lists in Display & Video 360 and keeps them up to date, so that campaigns can target those people or leave them out.',
  actions: ['add', 'remove'],
  notes:
    'Data moves through Google Data Manager, as Google advises for Customer Match of Display & Video 360. The refresh token needs the scope https://www.googleapis.com/auth/datamanager. Every upload states that consent was granted, so send only people who gave it; a row can say otherwise, and Google does not use it then. The Customer Match terms must be accepted. The retention, 540 days at most, is given to lists that the connector makes, and existing lists keep theirs. A connection carries either contact data or advertising IDs, never both. First name, last name, postal code and country are matched only where a row has all four, and are left out otherwise. Google goes through what it took in within hours: members that it does not use are counted as rejected where it says so while the transfer waits for its results, and later ones are not in its counts.',
  tested:
    'Our own test server, which follows what is published of Google’s token endpoint and its Data Manager API; not Google itself.',
  api: dataManagerApi,
  secrets: signIn,
  check: async (context) => {
    const { checkAudiences } = await import('../google-ads/check-data-manager.ts')
    return checkAudiences((await import('../google-ads/audience-plans.ts')).displayVideoCustomerMatchLists)(context)
  },
  destination: {
    deliver: {
      batch: () => ({ rowsMax: 10_000, bytesMax: 8_000_000 }),
      replaces: (settings) => settings.replaceExistingAudience === true,
      open: async (context) => {
        const { openAudiences } = await import('../google-ads/deliver-audiences.ts')
        const { displayVideoCustomerMatchLists } = await import('../google-ads/audience-plans.ts')
        return openAudiences(context, displayVideoCustomerMatchLists(context.settings))
      },
    },
    fields: {
      advertiserId: text({
        label: 'Advertiser ID',
        description: 'ID of the advertiser, which must belong to the partner of the user who signed in',
        required: true,
      }),
      audienceSource: select({
        label: 'Audience source',
        description: 'Where the people of the list were collected',
        options: ['CRM', 'Website', 'App'],
      }),
      audienceType: select({
        label: 'Audience type',
        description: 'Whether the list is made of contact data or of advertising IDs of mobile devices',
        options: ['Contact Info', 'MAID'],
        required: true,
      }),
      retentionDays: number({
        label: 'Retention (days)',
        description: 'Days that a person stays in the list after being added',
        required: true,
        min: 1,
      }),
      partnerId: text({
        label: 'Partner ID',
        description:
          'ID of the partner through which the user reaches the advertiser; leave it out where the user has access to the advertiser directly',
      }),
      mobileAppId: text({
        label: 'Mobile app ID',
        description:
          'App in which the advertising IDs were collected: its number in the App Store, or the name of its Android package. Needed where a list is to be made',
        when: { audienceType: 'MAID' },
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
      segment_name: column({
        description: 'Name for a list that is to be created',
        synonyms: ['segment', 'audience', 'audience_name', 'list_name'],
      }),
      segment_id: column({
        description: 'ID of the list to change, where it already exists',
        synonyms: ['audience_id', 'list_id'],
      }),
      action: column({
        description: 'Whether the person joins the list or leaves it',
        required: true,
        values: ['add', 'remove'],
      }),
      email: column({
        description: 'E-mail address; it is hashed before it leaves',
        normalise: 'email-gmail',
        hashed: ['sha256'],
        oneOf: 'identifier',
      }),
      email_sha256: column({
        description: 'SHA-256 of the e-mail address',
        normalise: 'email-gmail',
        hashed: ['sha256'],
        oneOf: 'identifier',
      }),
      phone: column({
        description: 'Phone number in E.164 form; it is hashed before it leaves',
        normalise: 'phone-e164',
        hashed: ['sha256'],
        oneOf: 'identifier',
      }),
      phone_sha256: column({
        description: 'SHA-256 of the phone number in E.164 form',
        normalise: 'phone-e164',
        hashed: ['sha256'],
        oneOf: 'identifier',
      }),
      maid: column({
        description: 'Advertising ID of a mobile device, not hashed',
        oneOf: 'identifier',
        normalise: 'text',
      }),
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
      postal_code: column({
        description: 'Postal code, not hashed; counts only beside both names and the country',
        normalise: 'text',
        oneOf: 'identifier',
      }),
      country_code: column({
        description:
          'Country as its two-letter ISO code, not hashed; counts only beside both names and the postal code',
        normalise: 'country',
        oneOf: 'identifier',
      }),
      ...consentColumns,
    },
  },
})
