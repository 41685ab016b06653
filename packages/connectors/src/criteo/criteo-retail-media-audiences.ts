import { column, defineConnector, text } from '@penstock/connector'
import { audienceFields, membershipColumns } from './audience.ts'
import { criteo } from './platform.ts'
import { signIn } from './sign-in.ts'

/** Audiences for ads on the sites of retailers, through Criteo. */
export const criteoRetailMediaAudiences = defineConnector({
  slug: 'criteo-retail-media-audiences',
  name: 'Criteo Retail Media Audiences',
  platform: criteo,
  dataType: 'audiences',
  dataTypeCategory: 'audience activation',
  description: 'Creates audiences from your own data for retail media at Criteo and keeps their members up to date.',
  actions: ['create', 'add', 'remove'],
  secrets: signIn,
  destination: {
    fields: {
      retailerId: text({
        label: 'Retailer ID',
        description: 'ID of the retailer; needed if the connection creates an audience',
      }),
      ...audienceFields,
    },
    records: {
      ...membershipColumns,
      email_sha256: column({
        description: 'SHA-256 of the e-mail address',
        normalise: 'email',
        hashed: ['sha256'],
        oneOf: 'identifier',
      }),
      phone_sha256: column({
        description: 'SHA-256 of the phone number',
        normalise: 'phone-e164',
        hashed: ['sha256'],
        oneOf: 'identifier',
      }),
      maid: column({ description: 'Advertising ID of a mobile device', oneOf: 'identifier' }),
      identityLink: column({
        description: 'IdentityLink from LiveRamp, if Criteo can match it',
        oneOf: 'identifier',
      }),
      customerid: column({
        description: 'Your own customer ID, if Criteo can match it',
        oneOf: 'identifier',
      }),
    },
  },
})
