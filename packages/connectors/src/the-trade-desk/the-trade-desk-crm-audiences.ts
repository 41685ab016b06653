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
  description: 'Builds audiences at The Trade Desk from the e-mail addresses and phone numbers in your CRM.',
  actions: ['create', 'add', 'replace'],
  notes:
    'Choose a token that stays valid for at least six months. Data already in the form of UID2 goes through The Trade Desk First-Party Audiences instead.',
  secrets: developerPortal,
  destination: {
    records: {
      action: column({
        description: 'What happens to this person’s membership',
        required: true,
        values: ['add', 'replace'],
      }),
      Email: column({ description: 'E-mail address, not hashed', oneOf: 'identifier' }),
      Email_SHA256: column({
        description: 'Hashed e-mail address, the digest written in Base64',
        normalise: 'email-gmail',
        hashed: ['sha256'],
        digestEncoding: 'base64',
        oneOf: 'identifier',
      }),
      Phone: column({ description: 'Phone number, not hashed', oneOf: 'identifier' }),
      Phone_SHA256: column({
        description: 'Hashed phone number, the digest written in Base64',
        normalise: 'phone-e164',
        hashed: ['sha256'],
        digestEncoding: 'base64',
        oneOf: 'identifier',
      }),
      UID2Token: column({ description: 'Token of a Unified ID 2.0', oneOf: 'identifier' }),
      IDL: column({ description: 'IdentityLink that LiveRamp gave the person', oneOf: 'identifier' }),
      TtlInMinutes: column({ description: 'How many minutes the person stays in the audience; 90 days are 129600' }),
    },
  },
})
