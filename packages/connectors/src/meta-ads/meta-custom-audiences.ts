import { boolean, column, defineConnector, type Normalisation, secret, select, text } from '@penstock/connector'
import { metaAds } from './platform.ts'

const hashed = (description: string, normalise: Normalisation, synonyms: readonly string[] = []) =>
  column({ description, normalise, synonyms, hashed: ['sha256'], oneOf: 'identifier' })

/** Customer lists of Meta: created, filled, emptied or replaced by hashed identifiers. */
export const metaCustomAudiences = defineConnector({
  slug: 'meta-custom-audiences',
  name: 'Meta Custom Audiences',
  platform: metaAds,
  dataType: 'Custom Audiences',
  dataTypeCategory: 'audience activation',
  description:
    'Creates audiences on Facebook and Instagram from your customer records and keeps their members up to date.',
  actions: ['create', 'add', 'remove', 'replace', 'delete'],
  notes:
    'A new audience is created by rows with the action add; rows without an audience share one that is created for the connection. Replace discards all earlier members, and must finish within 85 minutes. If a transfer has lookalike_value, it creates value-based audiences, and the ad account must have accepted Meta’s terms for them; an existing audience must already be value-based. Meta hides the exact size of audiences with fewer than 1,000 people.',
  tested: 'Our own test server, which follows the published documentation of Meta’s Graph API; not Meta itself.',
  api: { version: 'Graph API v26.0', ends: 'about two years after its release; Meta announces the date' },
  secrets: {
    authType: select({
      label: 'Sign-in method',
      description: 'Whether access is granted to an OAuth app, or by a token that you enter',
      options: ['oauth2', 'api-token'],
      required: true,
    }),
    clientId: text({
      label: 'App ID',
      description: 'ID of your OAuth app at Meta',
      required: true,
      when: { authType: 'oauth2' },
    }),
    clientSecret: secret({
      label: 'App secret',
      description: 'Secret that belongs to the app ID',
      required: true,
      when: { authType: 'oauth2' },
    }),
    accessToken: secret({
      label: 'Access token',
      description: 'Token from an app that has permission to manage audiences',
      required: true,
    }),
  },
  check: async (context) => (await import('./check.ts')).checkAudiences(context),
  destination: {
    deliver: {
      batch: () => ({ rowsMax: 10_000, bytesMax: 8_000_000 }),
      replaces: (settings) => settings.replaceExistingAudience === true,
      open: async (context) => (await import('./deliver-custom-audiences.ts')).open(context),
    },
    fields: {
      advertiserId: text({
        label: 'Advertiser ID',
        description: 'ID of the ad account that owns the audiences',
        required: true,
      }),
      audienceSource: select({
        label: 'Audience source',
        description: 'Where the customer data comes from, as stored by Meta with the audience',
        options: ['CRM', 'Website', 'App'],
      }),
      idsField: text({ label: 'IDs field', description: 'Column of the source that contains the identifiers' }),
      pageId: text({
        label: 'Page ID',
        description: 'ID of the page that page-scoped IDs of people belong to',
      }),
      replaceExistingAudience: boolean({
        label: 'Replace existing audience',
        description: 'Whether each transfer replaces the existing members with the rows that it delivers',
      }),
    },
    records: {
      segment_name: column({
        description: 'Name of the audience to create',
        synonyms: ['segment', 'audience', 'audience_name', 'list_name'],
      }),
      segment_id: column({ description: 'ID of the audience to change', synonyms: ['audience_id', 'list_id'] }),
      action: column({
        description: 'Whether the person is added or removed',
        required: true,
        values: ['add', 'remove', 'delete', 'replace'],
      }),
      email_sha256: hashed('Hashed e-mail address', 'email'),
      // Meta wants the digits with the country code, and no plus sign before them.
      phone_sha256: hashed('Hashed phone number, in E.164 form before hashing', 'phone-digits'),
      fname_sha256: hashed('Hashed first name', 'name-joined', ['fname', 'fn', 'first_name', 'given_name']),
      lname_sha256: hashed('Hashed last name', 'name-joined', ['lname', 'ln', 'last_name', 'family_name', 'surname']),
      postal_code_sha256: hashed('Hashed postal code', 'postal-code'),
      country_code_sha256: hashed('Hashed two-letter country code', 'country'),
      dobm_sha256: hashed('Hashed month of birth, as MM', 'birth-month', ['dobm', 'birth_month']),
      dobd_sha256: hashed('Hashed day of birth, as DD', 'birth-day', ['dobd', 'birth_day']),
      doby_sha256: hashed('Hashed year of birth, as YYYY', 'birth-year', ['doby', 'birth_year']),
      maid: column({
        description: 'Advertising ID of a mobile device, not hashed',
        oneOf: 'identifier',
        normalise: 'device-id',
        synonyms: ['madid', 'mobile_advertiser_id', 'idfa', 'gaid', 'aaid'],
      }),
      extern_id: column({
        description: 'Your own ID of the person, not hashed',
        oneOf: 'identifier',
        normalise: 'external-id',
        synonyms: ['external_id'],
      }),
      extern_id_sha256: hashed('Your own ID of the person, hashed', 'external-id'),
      gender_sha256: hashed('Hashed gender, m or f', 'gender', ['gender', 'gen']),
      city_sha256: hashed('Hashed city', 'city', ['city', 'ct']),
      state_sha256: hashed('Hashed state; in the USA its two-letter code', 'state', ['state', 'st']),
      finitial_sha256: hashed('Hashed initial of the first name', 'name-joined', [
        ...['first_initial', 'f_first', 'fi', 'finitial'],
      ]),
      page_scoped_id: column({
        description: 'ID of the person for the page of the setting “Page ID”, not hashed',
        oneOf: 'identifier',
        normalise: 'text',
        synonyms: ['page_scoped_user_id', 'psid', 'pageuid'],
      }),
      lookalike_value: column({
        description: 'Value of the person to you, 0 or more, for value-based lookalike audiences',
      }),
    },
  },
})
