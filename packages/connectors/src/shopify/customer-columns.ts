import { column, type Records } from '@penstock/connector'

/** States of consent that can be set. Shopify sets the others itself. */
export const consentStates = ['SUBSCRIBED', 'UNSUBSCRIBED', 'PENDING'] as const
/** States of customers who never consented: nothing is set. */
export const unsetStates = ['NOT_SUBSCRIBED', 'NEVER_SUBSCRIBED'] as const
export const optInLevels = ['SINGLE_OPT_IN', 'CONFIRMED_OPT_IN', 'UNKNOWN'] as const

/** The columns of a customer. Only columns that are mapped are sent. */
export const customerColumns = {
  customer_id: column({
    description: 'ID of the customer in Shopify, as a number or gid://shopify/Customer/…',
    synonyms: ['shopify_customer_id'],
    oneOf: 'identifier',
  }),
  email: column({ description: 'E-mail address, not hashed', normalise: 'email', oneOf: 'identifier' }),
  phone: column({
    description: 'Phone number, not hashed; Shopify stores it in international form',
    normalise: 'phone-e164',
    oneOf: 'identifier',
  }),
  first_name: column({ description: 'First name', normalise: 'text', synonyms: ['fname', 'given_name', 'firstname'] }),
  last_name: column({
    description: 'Last name',
    normalise: 'text',
    synonyms: ['lname', 'family_name', 'lastname', 'surname'],
  }),
  note: column({ description: 'Note about the customer that the staff of the shop sees', synonyms: ['notes'] }),
  locale: column({ description: 'Language of the customer, such as en or pt-BR', synonyms: ['language'] }),
  tax_exempt: column({ description: 'Whether the customer pays no taxes: true or false' }),
  tags: column({ description: 'Tags, separated by commas, or as a list of JSON', synonyms: ['tag'] }),
  email_marketing_state: column({
    description: 'Consent to marketing by e-mail: SUBSCRIBED, UNSUBSCRIBED or PENDING; NOT_SUBSCRIBED changes nothing',
    values: [...consentStates, ...unsetStates],
  }),
  email_marketing_opt_in_level: column({
    description: 'How the customer consented to marketing by e-mail',
    values: [...optInLevels],
  }),
  email_marketing_updated_at: column({
    description: 'When the customer consented or objected to marketing by e-mail',
    reads: 'time',
  }),
  sms_marketing_state: column({
    description:
      'Consent to marketing by text message: SUBSCRIBED, UNSUBSCRIBED or PENDING; NEVER_SUBSCRIBED changes nothing',
    values: [...consentStates, ...unsetStates],
  }),
  sms_marketing_opt_in_level: column({
    description: 'How the customer consented to marketing by text message',
    values: [...optInLevels],
  }),
  sms_marketing_updated_at: column({
    description: 'When the customer consented or objected to marketing by text message',
    reads: 'time',
  }),
} satisfies Records

export type CustomerColumn = keyof typeof customerColumns
