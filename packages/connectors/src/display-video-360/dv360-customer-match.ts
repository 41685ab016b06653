import { boolean, column, defineConnector, number, select, text } from '@penstock/connector'
import { dataManagerAuthorization } from '../google/authorization.ts'
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
    'Creates customer lists in Display & Video 360 and keeps them up to date, so that campaigns can target or exclude these people.',
  actions: ['add', 'remove'],
  notes:
    'Data moves through Google Data Manager, as Google recommends for Customer Match of Display & Video 360. The refresh token needs the scope https://www.googleapis.com/auth/datamanager. Every upload declares that consent was granted, so send only people who gave it. If a row says otherwise, Google does not use it. The Customer Match terms must be accepted. The retention, at most 540 days, applies to lists that the connector creates; existing lists keep theirs. A connection sends either contact data or advertising IDs, never both. First name, last name, postal code and country are sent only if a row has all four. Google processes uploads within hours. Members that it rejects while the transfer waits for the results are counted as rejected; later rejections are not counted.',
  tested:
    'Our own test server, which follows the published documentation of Google’s token endpoint and its Data Manager API; not Google itself.',
  api: dataManagerApi,
  secrets: signIn,
  authorization: dataManagerAuthorization,
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
        description: 'Where the people in the list come from',
        options: ['CRM', 'Website', 'App'],
      }),
      audienceType: select({
        label: 'Audience type',
        description: 'Whether the list consists of contact data or of advertising IDs of mobile devices',
        options: ['Contact Info', 'MAID'],
        required: true,
      }),
      retentionDays: number({
        label: 'Retention (days)',
        description: 'How many days a person stays in the list after being added',
        required: true,
        min: 1,
      }),
      partnerId: text({
        label: 'Partner ID',
        description:
          'ID of the partner through which the user has access to the advertiser; leave it empty if the user has direct access',
      }),
      mobileAppId: text({
        label: 'Mobile app ID',
        description:
          'App in which the advertising IDs were collected: its number in the App Store, or the name of its Android package. Needed to create a list',
        when: { audienceType: 'MAID' },
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
      segment_name: column({
        description: 'Name of the list to create',
        synonyms: ['segment', 'audience', 'audience_name', 'list_name'],
      }),
      segment_id: column({
        description: 'ID of the list to change, if it exists',
        synonyms: ['audience_id', 'list_id'],
      }),
      action: column({
        description: 'Whether the person is added to the list or removed',
        required: true,
        values: ['add', 'remove'],
      }),
      email: column({
        description: 'E-mail address; it is hashed before it is sent',
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
        description: 'Phone number in E.164 form; it is hashed before it is sent',
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
      postal_code: column({
        description: 'Postal code, not hashed; used only together with both names and the country',
        normalise: 'text',
        oneOf: 'identifier',
      }),
      country_code: column({
        description:
          'Country as its two-letter ISO code, not hashed; used only together with both names and the postal code',
        normalise: 'country',
        oneOf: 'identifier',
      }),
      ...consentColumns,
    },
  },
})
