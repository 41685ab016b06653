import { column, defineConnector, inspectBy, text } from '@penstock/connector'
import { audienceFields, membershipColumns } from './audience.ts'
import { criteo } from './platform.ts'
import { signIn } from './sign-in.ts'
import { criteoApi } from './version.ts'

/** Contact lists of Criteo Commerce Growth. */
export const criteoCommerceGrowthAudiences = defineConnector({
  slug: 'criteo-commerce-growth-audiences',
  name: 'Criteo Commerce Growth Audiences',
  platform: criteo,
  dataType: 'audiences',
  dataTypeCategory: 'audience activation',
  description: 'Creates contact lists in Criteo Commerce Growth, and adds people to them or removes them.',
  actions: ['create', 'add', 'remove'],
  notes:
    'The app needs the permission to manage audiences and the consent of the advertiser. Rows without an audience share one that is created for the connection. Criteo counts the identifiers that it finds invalid and shows some of them: those rows are reported, the others only counted. If a person has several identifiers, the first one in the order of the columns is reported. Criteo has no lifespan for contact lists, so this setting has no effect. The audience source becomes the description of the list. Send only people who have agreed to it: Criteo does not accept information on consent.',
  tested: 'Our own test server, which follows the OpenAPI document that Criteo publishes; not Criteo itself.',
  api: criteoApi,
  secrets: signIn,
  check: async (context) => (await import('./check.ts')).checkCriteo(context),
  destination: {
    deliver: {
      batch: () => ({ rowsMax: 50_000, bytesMax: 8_000_000 }),
      open: async (context) => (await import('./deliver-contact-lists.ts')).open(context),
      inspect: inspectBy(async (context) => (await import('./check.ts')).assertAudiences(context)),
    },
    fields: {
      ...audienceFields,
      advertiserId: text({
        label: 'Advertiser ID',
        description: 'ID of the advertiser that owns the audiences; needed if rows do not have segment_id',
      }),
      gumCallerId: text({
        label: 'GUM caller ID',
        description: 'Number that Criteo gave you for IDs from its cookie; needed if rows have such IDs',
      }),
    },
    records: {
      ...membershipColumns,
      email: column({
        description:
          'E-mail address, which is hashed before it is sent, or its MD5, its SHA-256, or the SHA-256 of its MD5',
        oneOf: 'identifier',
        normalise: 'email',
        hashed: ['sha256', 'md5'],
      }),
      madid: column({ description: 'Advertising ID of a mobile device', oneOf: 'identifier' }),
      identityLink: column({ description: 'IdentityLink from LiveRamp', oneOf: 'identifier' }),
      gum: column({ description: 'ID from Criteo’s own cookie', oneOf: 'identifier' }),
      customerid: column({ description: 'Your own customer ID', oneOf: 'identifier' }),
      phonenumber: column({
        description:
          'Phone number as plain text or its SHA-256; Criteo accepts it in India only, and it is sent only if the row has no other identifier',
        oneOf: 'identifier',
      }),
    },
  },
})
