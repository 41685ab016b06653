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
  description: 'Creates contact lists in Criteo Commerce Growth and adds people to them or takes them out.',
  actions: ['create', 'add', 'remove'],
  notes:
    'The app needs the right to manage audiences, and the consent of the advertiser. Rows that name no audience share one that is made for the connection. Criteo counts the identifiers that it finds invalid and shows some of them: these rows are named, the others counted. Of a person with several identifiers the first one of the columns counts for that. Criteo keeps no lifespan for contact lists, so that this setting has no effect; the audience source becomes the description. Send only people who have agreed to it: Criteo takes no consent with them.',
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
        description: 'Number of the advertiser that owns the audiences; needed where rows do not name them by ID',
      }),
      gumCallerId: text({
        label: 'GUM caller ID',
        description: 'Number that Criteo gave you for IDs from its cookie; needed where rows have such IDs',
      }),
    },
    records: {
      ...membershipColumns,
      email: column({
        description: 'E-mail address, which is hashed on the way, or its MD5, its SHA-256, or the SHA-256 of its MD5',
        oneOf: 'identifier',
        normalise: 'email',
        hashed: ['sha256', 'md5'],
      }),
      madid: column({ description: 'Advertising ID of a mobile device', oneOf: 'identifier' }),
      identityLink: column({ description: 'IdentityLink from LiveRamp', oneOf: 'identifier' }),
      gum: column({ description: 'ID from Criteo’s own cookie', oneOf: 'identifier' }),
      customerid: column({ description: 'Customer ID of your own making', oneOf: 'identifier' }),
      phonenumber: column({
        description:
          'Phone number as plain text or its SHA-256; Criteo takes it in India alone, and it is sent where nothing else is known',
        oneOf: 'identifier',
      }),
    },
  },
})
