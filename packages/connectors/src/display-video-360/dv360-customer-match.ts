import { column, defineConnector, number, select, text } from '@penstock/connector'
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
    'A list cannot be replaced in one go: remove the people who left and add the new ones. Every upload states that consent was granted, so send only people who gave it. First name, last name, postal code and country are matched only where a row has all four.',
  secrets: signIn,
  destination: {
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
    },
    records: {
      segment_name: column({ description: 'Name for a list that is to be created' }),
      segment_id: column({ description: 'ID of the list to change, where it already exists' }),
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
      maid: column({ description: 'Advertising ID of a mobile device, not hashed', oneOf: 'identifier' }),
      fname: column({
        description: 'First name; it is hashed before it leaves',
        normalise: 'given-name',
        hashed: ['sha256'],
        oneOf: 'identifier',
        together: 'address',
      }),
      fname_sha256: column({
        description: 'SHA-256 of the first name',
        normalise: 'given-name',
        hashed: ['sha256'],
        oneOf: 'identifier',
        together: 'address',
      }),
      lname: column({
        description: 'Last name; it is hashed before it leaves',
        normalise: 'family-name',
        hashed: ['sha256'],
        oneOf: 'identifier',
        together: 'address',
      }),
      lname_sha256: column({
        description: 'SHA-256 of the last name',
        normalise: 'family-name',
        hashed: ['sha256'],
        oneOf: 'identifier',
        together: 'address',
      }),
      postal_code: column({
        description: 'Postal code, not hashed; counts only beside both names and the country',
        oneOf: 'identifier',
        together: 'address',
      }),
      country_code: column({
        description:
          'Country as its two-letter ISO code, not hashed; counts only beside both names and the postal code',
        oneOf: 'identifier',
        together: 'address',
      }),
    },
  },
})
