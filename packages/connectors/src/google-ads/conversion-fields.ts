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
      'ID of the Google Ads account that owns the conversion action, shown at the top of its page; needed to send conversions',
  }),
  managerAccountId: text({
    label: 'Manager account ID',
    description:
      'ID of the manager account through which the user has access to the account; leave it empty if the user has direct access',
  }),
  conversionActionId: text({
    label: 'Conversion action ID',
    description:
      'ID of the conversion action, which follows ctId= in the address of its page; needed unless every row has conversion_action_id',
  }),
  adUserDataConsent: select({
    label: 'Ad user data consent',
    description: 'Whether people agreed that their data is sent to Google for advertising, for rows that do not say so',
    options: consents,
    default: 'Unspecified',
  }),
  adPersonalizationConsent: select({
    label: 'Ad personalization consent',
    description: 'Whether people agreed to see personalised ads, for rows that do not say so',
    options: consents,
    default: 'Unspecified',
  }),
  resultWaitSeconds: number({
    label: 'Wait for results (seconds)',
    description: 'How long a transfer waits at its end for Google to report rejected events; 0 to ask once',
    min: 0,
    max: 600,
    default: 30,
  }),
}

/** Where the events of a connection happened whose rows do not say it. */
export const eventSourceField = select({
  label: 'Event source',
  description: 'Where events happened, for rows that do not say so',
  options: ['Web', 'App', 'In store', 'Phone', 'Message', 'Other'],
  default: 'Web',
})

/** How a connector signs in whose configurations were saved without anything before it moved data. */
export const optionalSignIn = {
  clientId: text({ label: 'Client ID', description: `${signIn.clientId.description}; needed to send data` }),
  clientSecret: secret({
    label: 'Client secret',
    description: `${signIn.clientSecret.description}; needed to send data`,
  }),
  refreshToken: secret({
    label: 'Refresh token',
    description: `${signIn.refreshToken.description}; needed to send data`,
  }),
}

const { email, email_sha256, phone, phone_sha256 } = listColumns
const click = (description: string, synonyms: readonly string[] = []) =>
  column({ description, synonyms, oneOf: 'identifier', normalise: 'text' })

/** The columns of a conversion, all of them plain. */
export const conversionColumns = {
  event_time: column({
    description:
      'When it happened: ISO 8601 with its time zone, such as 2026-01-31T12:00:00+01:00, or seconds or milliseconds since 1970',
    required: true,
    synonyms: [
      ...['conversion_time', 'conversion_date_time', 'conversion_timestamp', 'event_timestamp', 'timestamp'],
      ...['occurred_at', 'order_time', 'purchase_time'],
    ],
  }),
  transaction_id: column({
    description: 'ID of the order, for which Google counts the conversion once; recommended',
    synonyms: ['order_id', 'event_id', 'conversion_id', 'order_number'],
  }),
  value: column({
    description: 'Value of the conversion, as an amount of money',
    synonyms: ['conversion_value', 'revenue', 'amount', 'order_value'],
  }),
  currency: column({
    description: 'Currency of the value, as a three-letter code; by default that of the account',
    synonyms: ['currency_code'],
  }),
  gclid: click('Click ID of Google Ads', ['google_click_id', 'click_id']),
  gbraid: click('Click ID of clicks on iOS that led to an app'),
  wbraid: click('Click ID of clicks on iOS that led to a website'),
  email,
  email_sha256,
  phone,
  phone_sha256,
  ...addressColumns,
  ...consentColumns,
  conversion_action_id: column({
    description: 'ID of the conversion action that it counts for; by default as set in the connection',
    synonyms: ['conversion_action'],
  }),
  session_attributes: column({ description: 'Session attributes that the Google tag collected, unchanged' }),
  user_agent: column({ description: 'User agent of the device on which it happened' }),
  ip_address: column({
    description:
      'IP address of that device; leave it empty for people in the European Economic Area, the United Kingdom and Switzerland, where Google does not use it',
    synonyms: ['client_ip_address'],
  }),
  customer_type: column({
    description: 'Whether the customer is new to you',
    values: ['new', 'returning', 'reengaged'],
  }),
  customer_value: column({ description: 'How valuable the customer is to you', values: ['low', 'medium', 'high'] }),
  cart_data: column({ description: 'Object with the merchantId and the items of the cart, in Google’s format' }),
  custom_variables: column({ description: 'Object with the values of custom variables by name' }),
}

/** Where one event happened, where rows say it. */
export const eventSourceColumn = column({
  description: 'Where it happened; by default as set in the connection',
  values: ['web', 'app', 'in_store', 'phone', 'message', 'other'],
})

export const conversionsTested =
  'Our own test server, which follows the published documentation of Google’s token endpoint and its Data Manager API; not Google itself.'

/** What to know of all connectors that send conversions to Google Ads. */
export const conversionNotes =
  'Data moves through Google Data Manager, since the Google Ads API has not accepted conversions from new users since June 2026. The refresh token needs the scope https://www.googleapis.com/auth/datamanager; a developer token is not needed. Send only data that people consented to. Google does not use the data of people who denied consent, and in the European Economic Area requires the consent of everyone. To send contact data, accept the terms for enhanced conversions in the account. Google counts a conversion once for each transaction ID, or for each click and time. It processes uploads within hours. Events that it rejects while the transfer waits for the results are counted as rejected; later rejections are not counted.'
