import { column, defineConnector } from '@penstock/connector'
import { audienceFields, membershipColumns } from './audience.ts'
import { criteo } from './platform.ts'
import { signIn } from './sign-in.ts'

/** Contact lists of Criteo Commerce Growth. */
export const criteoCommerceGrowthAudiences = defineConnector({
  slug: 'criteo-commerce-growth-audiences',
  name: 'Criteo Commerce Growth Audiences',
  platform: criteo,
  dataType: 'audiences',
  dataTypeCategory: 'audience activation',
  description: 'Creates contact lists in Criteo Commerce Growth and adds people to them or takes them out.',
  actions: ['create', 'add', 'remove'],
  secrets: signIn,
  destination: {
    fields: audienceFields,
    records: {
      ...membershipColumns,
      email: column({
        description: 'E-mail address as plain text, or its MD5, its SHA-256, or the SHA-256 of its MD5',
        oneOf: 'identifier',
      }),
      madid: column({ description: 'Advertising ID of a mobile device', oneOf: 'identifier' }),
      identityLink: column({ description: 'IdentityLink from LiveRamp', oneOf: 'identifier' }),
      gum: column({ description: 'ID from Criteo’s own cookie', oneOf: 'identifier' }),
      customerid: column({ description: 'Customer ID of your own making', oneOf: 'identifier' }),
      phonenumber: column({
        description: 'Phone number as plain text or its SHA-256; Criteo takes it in India alone',
        oneOf: 'identifier',
      }),
    },
  },
})
