import { column, defineConnector } from '@penstock/connector'
import { developerPortal } from './developer-portal.ts'
import { theTradeDesk } from './platform.ts'

/** Audiences of The Trade Desk, made of contacts from a CRM. */
export const theTradeDeskCrmAudiences = defineConnector({
  slug: 'the-trade-desk-crm-audiences',
  name: 'The Trade Desk CRM Audiences',
  platform: theTradeDesk,
  dataType: 'Audiences - CRM API',
  dataTypeCategory: 'audience activation',
  description: 'Creates audiences at The Trade Desk from the e-mail addresses and phone numbers in your CRM.',
  actions: ['create', 'add', 'replace'],
  notes:
    'Use a token that is valid for at least six months. For data that already consists of UID2s, use The Trade Desk First-Party Audiences instead.',
  secrets: developerPortal,
  destination: {
    records: {
      action: column({
        description: 'Whether the person is added or removed',
        required: true,
        values: ['add', 'replace'],
      }),
      Email: column({ description: 'E-mail address, not hashed', oneOf: 'identifier' }),
      Email_SHA256: column({
        description: 'Hashed e-mail address, with the digest in Base64',
        normalise: 'email-gmail',
        hashed: ['sha256'],
        digestEncoding: 'base64',
        oneOf: 'identifier',
      }),
      Phone: column({ description: 'Phone number, not hashed', oneOf: 'identifier' }),
      Phone_SHA256: column({
        description: 'Hashed phone number, with the digest in Base64',
        normalise: 'phone-e164',
        hashed: ['sha256'],
        digestEncoding: 'base64',
        oneOf: 'identifier',
      }),
      UID2Token: column({ description: 'Token of a Unified ID 2.0', oneOf: 'identifier' }),
      IDL: column({ description: 'LiveRamp IdentityLink of the person', oneOf: 'identifier' }),
      TtlInMinutes: column({ description: 'How many minutes the person stays in the audience; 129600 for 90 days' }),
    },
  },
})
