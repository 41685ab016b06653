import { column, number, secret, select, text } from '@penstock/connector'
import { addressColumns } from './address-columns.ts'
import { consentColumns } from './consent.ts'
import { listColumns } from './list-columns.ts'
import { signIn } from './sign-in.ts'

const consents = ['Granted', 'Denied', 'Unspecified']

/**
 * Which account and conversion action the conversions of a connection count for. Nothing of this is required by the
 * catalogue; a transfer says what is missing.
 */
export const conversionFields = {
  customerId: text({
    label: 'Customer ID',
    description:
      'Number of the Google Ads account that owns the conversion action, as its page shows it at the top; needed before conversions can be sent',
  }),
  managerAccountId: text({
    label: 'Manager account ID',
    description:
      'Number of the manager account through which the user reaches the account; leave it out where the user has access directly',
  }),
  conversionActionId: text({
    label: 'Conversion action ID',
    description:
      'Number of the conversion action, which stands behind ctId= in the address of its page; needed unless every row names one in conversion_action_id',
  }),
  adUserDataConsent: select({
    label: 'Ad user data consent',
    description: 'Whether people agreed that their data goes to Google for advertising, where a row does not say it',
    options: consents,
    default: 'Unspecified',
  }),
  adPersonalizationConsent: select({
    label: 'Ad personalization consent',
    description: 'Whether people agreed to see personalised ads, where a row does not say it',
    options: consents,
    default: 'Unspecified',
  }),
  resultWaitSeconds: number({
    label: 'Wait for results (seconds)',
    description: 'How long a transfer waits in the end for Google to say which events it did not use; 0 to ask once',
    min: 0,
    max: 600,
    default: 30,
  }),
}

/** Where the events of a connection happened whose rows do not say it. */
export const eventSourceField = select({
  label: 'Event source',
  description: 'Where events happened whose rows do not say it',
  options: ['Web', 'App', 'In store', 'Phone', 'Message', 'Other'],
  default: 'Web',
})

/** How a connector signs in whose configurations were saved without anything before it moved data. */
export const optionalSignIn = {
  clientId: text({ label: 'Client ID', description: `${signIn.clientId.description}; needed before data can be sent` }),
  clientSecret: secret({
    label: 'Client secret',
    description: `${signIn.clientSecret.description}; needed before data can be sent`,
  }),
  refreshToken: secret({
    label: 'Refresh token',
    description: `${signIn.refreshToken.description}; needed before data can be sent`,
  }),
}

const { email, email_sha256, phone, phone_sha256 } = listColumns
const click = (description: string, synonyms: readonly string[] = []) =>
  column({ description, synonyms, oneOf: 'identifier', normalise: 'text' })

/** The columns of a conversion, all of them plain. */
export const conversionColumns = {
  event_time: column({
    description:
      'When it happened, as 2026-01-31T12:00:00+01:00 with its zone, or in seconds or milliseconds since 1970',
    required: true,
    synonyms: [
      ...['conversion_time', 'conversion_date_time', 'conversion_timestamp', 'event_timestamp', 'timestamp'],
      ...['occurred_at', 'order_time', 'purchase_time'],
    ],
  }),
  transaction_id: column({
    description: 'ID of the order, under which Google counts the conversion once; recommended',
    synonyms: ['order_id', 'event_id', 'conversion_id', 'order_number'],
  }),
  value: column({
    description: 'What the conversion was worth, as an amount of money',
    synonyms: ['conversion_value', 'revenue', 'amount', 'order_value'],
  }),
  currency: column({
    description: 'Currency of the value, as a code of three letters; that of the account without it',
    synonyms: ['currency_code'],
  }),
  gclid: click('Click ID that Google Ads has set', ['google_click_id', 'click_id']),
  gbraid: click('Click ID of clicks on iOS that led to an app'),
  wbraid: click('Click ID of clicks on iOS that led to a website'),
  email,
  email_sha256,
  phone,
  phone_sha256,
  ...addressColumns,
  ...consentColumns,
  conversion_action_id: column({
    description: 'Number of the conversion action that it counts for; as the connection says without it',
    synonyms: ['conversion_action'],
  }),
  session_attributes: column({ description: 'Session attributes that the Google tag has collected, as they are' }),
  user_agent: column({ description: 'User agent of the device with which it happened' }),
  ip_address: column({
    description:
      'IP address of that device; leave it out for people in the European Economic Area, the United Kingdom and Switzerland, for whom Google does not use it',
    synonyms: ['client_ip_address'],
  }),
  customer_type: column({
    description: 'Whether the customer is new to you',
    values: ['new', 'returning', 'reengaged'],
  }),
  customer_value: column({ description: 'How valuable you find the customer', values: ['low', 'medium', 'high'] }),
  cart_data: column({ description: 'Object with merchantId and items of the cart, as Google names them' }),
  custom_variables: column({ description: 'Object with values of custom variables, by their names' }),
}

/** Where one event happened, where rows say it. */
export const eventSourceColumn = column({
  description: 'Where it happened; as the connection says without it',
  values: ['web', 'app', 'in_store', 'phone', 'message', 'other'],
})

export const conversionsTested =
  'Our own test server, which follows what is published of Google’s token endpoint and its Data Manager API; not Google itself.'

/** What to know of all connectors that send conversions to Google Ads. */
export const conversionNotes =
  'Data moves through Google Data Manager: since June 2026 the Google Ads API takes conversions of no new users. The refresh token needs the scope https://www.googleapis.com/auth/datamanager; a developer token is not needed. Send only what people consented to; Google uses none of the data of people who denied it, and in the European Economic Area wants to know it of everyone. Contact data need the terms for enhanced conversions to be accepted in the account. Google counts a conversion once for each transaction ID, or for each click and time. It goes through what it took in within hours: events that it does not use are counted as rejected where it says so while the transfer waits for its results, and later ones are not in its counts.'
