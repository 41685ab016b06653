import { select } from '@penstock/connector'
import { googleAuthorization } from '../google/authorization.ts'
import { googleSignIn } from '../google/sign-in.ts'
import { restApi } from '../kit/api.ts'
import { currency, decimal, type EventColumns, oneOf, plain, time } from '../kit/columns.ts'
import { eventDestination } from '../kit/event-destination.ts'
import { objectIn } from '../platform-api/json.ts'
import { wrong } from '../platform-api/rows/events.ts'
import { adjustmentResults } from './adjustment-results.ts'
import { actionIn, conversionAction, conversionActionSetting } from './conversions.ts'
import { accountSetting, managerAccountSetting } from './data-manager.ts'
import {
  adjustableActions,
  clientAccounts,
  customerDigits,
  googleAdsApi,
  googleAdsAuth,
  googleAdsScope,
  googleAdsVersion,
} from './google-ads-api.ts'
import { addressColumns, contactColumns, identifiersIn } from './people.ts'
import { googleAds } from './platform.ts'

const only = (type: string) => ({ only: { at: 'adjustmentType', is: [type] } })
const enhances = only('ENHANCEMENT')

/** Contact data, which Google accepts only in enhancements. */
const personColumns: EventColumns = Object.fromEntries(
  Object.entries<EventColumns[string]>({ ...contactColumns, ...addressColumns }).map(([name, column]) => [
    name,
    { ...column, how: { ...column.how, ...enhances } },
  ]),
)

const api = restApi({
  ...googleAdsApi,
  errors: {
    ...googleAdsApi.errors,
    statuses: {
      ...googleAdsApi.errors?.statuses,
      400: ['request_refused', 'Check the settings of the connection, and report this if they are right.'],
    },
  },
})

/** A time as the Google Ads API expects it: `2026-01-31 12:00:00+00:00`. @param iso the time in UTC, in ISO 8601 */
const dateTimeOf = (iso: unknown): string => `${String(iso).slice(0, 19).replace('T', ' ')}+00:00`

/** The name of an identifier in the Google Ads API, which differs from that in the Data Manager API. */
function identifierOf({ emailAddress, phoneNumber, address }: Readonly<Record<string, unknown>>): object {
  if (emailAddress !== undefined) return { hashedEmail: emailAddress }
  if (phoneNumber !== undefined) return { hashedPhoneNumber: phoneNumber }
  const { givenName, familyName, regionCode, postalCode } = objectIn(address)
  return {
    addressInfo: {
      hashedFirstName: givenName,
      hashedLastName: familyName,
      countryCode: regionCode,
      postalCode,
    },
  }
}

/** Retractions, restatements and enhancements of conversions, for Google Ads. */
export const googleAdsConversionAdjustments = eventDestination({
  slug: 'google-ads-conversion-adjustments',
  name: 'Google Ads Conversion Adjustments',
  platform: googleAds,
  dataType: 'Conversions',
  description:
    'Retracts conversions that Google Ads has counted, changes their values, or adds contact data to those of a Google tag.',
  notes:
    'A retraction removes a conversion, such as that of a cancelled order; it cannot be taken back. A restatement replaces the value: send the value that the conversion has now, not the difference. An enhancement adds contact data to a conversion of a Google tag. A conversion that was reported with an order ID (transaction ID) is identified by it, any other by its click ID and its exact time. Google takes adjustments of conversions for websites and for imports from clicks, for 54 days after the conversion, and enhancements for websites alone. An adjustment that Google has recorded already counts as accepted, so that a repeated batch changes nothing. After a crash, an adjustment that a later one of the same batch replaced can be reported as rejected, although Google recorded it. Google ignores a second restatement with the time of an earlier one, whatever its value: give each its own time. Google processes adjustments within 24 hours; an adjustment that fails only then is not counted here, but in the diagnostics of the conversion action. The refresh token needs the scope https://www.googleapis.com/auth/adwords, and the Google Cloud project of the OAuth client access to the Google Ads API; a developer token is not needed. Google takes no information on consent with an adjustment: send contact data only of people who consented, and accept the customer data terms in the account first.',
  tested:
    'Our own test server, which follows Google’s published protocol buffers of the Google Ads API v25; not Google itself.',
  api: googleAdsVersion,
  authorization: googleAuthorization(googleAdsScope),
  platformApi: api,
  auth: googleAdsAuth,
  secrets: googleSignIn('a user of the Google Ads account'),
  settings: {
    customerId: accountSetting(
      'Customer ID',
      'ID of the Google Ads account that owns the conversion action, shown at the top of its page',
      { required: true },
    ),
    managerAccountId: managerAccountSetting,
    conversionActionId: conversionActionSetting,
    adjustmentType: select({
      label: 'Adjustment type',
      description: 'Kind of adjustment, for rows without adjustment_type',
      options: ['Retraction', 'Restatement', 'Enhancement'],
    }),
  },
  listed: { customerId: clientAccounts, conversionActionId: adjustableActions },
  batch: { rowsMax: 2_000, bytesMax: 4_000_000 },
  columns: {
    adjustment_type: oneOf(
      'adjustmentType',
      'Kind of adjustment: retraction, restatement or enhancement; by default as set in the connection',
      {
        values: { retraction: 'RETRACTION', restatement: 'RESTATEMENT', enhancement: 'ENHANCEMENT' },
        wanted: 'retraction, restatement or enhancement',
        listed: ['retraction', 'restatement', 'enhancement'],
        setting: 'adjustmentType',
        missing: 'Neither the row nor the connection has an adjustment type.',
      },
    ),
    adjustment_time: time(
      'adjustmentDateTime',
      'When it was adjusted, such as the time of the refund: ISO 8601 with its zone, or seconds or milliseconds since 1970; required unless it is an enhancement',
      {
        unit: 'utc',
        required: false,
        synonyms: ['adjustment_date_time', 'refund_time', 'refunded_at', 'cancelled_at'],
      },
    ),
    order_id: plain('orderId', 'ID of the order that the conversion was reported with', {
      identifies: true,
      synonyms: ['transaction_id', 'order_number'],
    }),
    gclid: plain('gclidDateTimePair.gclid', 'Click ID of a conversion that was reported without an order ID', {
      identifies: true,
      normalise: 'text',
      synonyms: ['google_click_id', 'click_id'],
    }),
    conversion_time: time(
      'gclidDateTimePair.conversionDateTime',
      'When the conversion happened, exactly as it was reported with the click ID',
      { unit: 'utc', required: false, synonyms: ['conversion_date_time', 'event_time'] },
    ),
    value: decimal('restatementValue.adjustedValue', 'Value that the conversion has now; for restatements', {
      ...only('RESTATEMENT'),
      synonyms: ['adjusted_value', 'conversion_value', 'revenue', 'amount'],
    }),
    currency: currency(
      'restatementValue.currencyCode',
      'Currency of the value, as a three-letter code; by default that of the conversion action',
      { ...only('RESTATEMENT'), synonyms: ['currency_code'] },
    ),
    ...personColumns,
    user_agent: plain('userAgent', 'User agent of the browser in which the conversion happened; for enhancements', {
      ...enhances,
      synonyms: ['client_user_agent'],
    }),
    conversion_action_id: plain(
      '@action',
      'ID of the conversion action that counted the conversion; by default as set in the connection',
      {
        ...conversionAction,
        setting: 'conversionActionId',
        missing: 'The row has no conversion action, which is a number in Google Ads.',
        synonyms: ['conversion_action'],
        addresses: true,
      },
    ),
  },
  person: {
    anyOf: ['orderId', ['gclidDateTimePair.gclid', 'gclidDateTimePair.conversionDateTime']],
    missing: 'The row has neither an order ID nor a click ID together with the time of the conversion.',
    field: 'order_id',
  },
  needs: [
    {
      at: 'adjustmentType',
      is: ['restatement'],
      paths: ['restatementValue.adjustedValue'],
      missing: 'A restatement needs the value that the conversion has now.',
    },
    {
      at: 'adjustmentType',
      is: ['retraction', 'restatement'],
      paths: ['adjustmentDateTime'],
      missing: 'The adjustment needs its time.',
    },
    {
      at: 'adjustmentType',
      is: ['enhancement'],
      paths: ['orderId'],
      missing: 'An enhancement needs the order ID that the tag sent.',
    },
  ],
  finish(event, _, settings) {
    const { adjustmentType, adjustmentDateTime: adjusted, orderId, restatementValue, userAgent } = event
    const { gclid, conversionDateTime: happened } = objectIn(event.gclidDateTimePair)
    if (adjusted !== undefined && happened !== undefined && String(adjusted) < String(happened)) {
      return wrong('The adjustment lies before the conversion.', 'adjustment_time')
    }
    const contact = identifiersIn(event, personColumns)
    if ('wrong' in contact) return contact
    if (adjustmentType === 'ENHANCEMENT' && contact.read.length === 0) {
      return wrong('An enhancement needs an e-mail address, a phone number or an address.', 'email')
    }
    // Google accepts both identifiers of a conversion only in enhancements.
    const isByClick = gclid !== undefined && happened !== undefined
    const hasPair = isByClick && (orderId === undefined || adjustmentType === 'ENHANCEMENT')
    return {
      read: {
        adjustmentType,
        conversionAction: `customers/${customerDigits(settings.customerId)}/conversionActions/${actionIn(event['@action'])}`,
        adjustmentDateTime: adjusted && dateTimeOf(adjusted),
        orderId,
        gclidDateTimePair: hasPair ? { gclid, conversionDateTime: dateTimeOf(happened) } : undefined,
        restatementValue,
        userIdentifiers: contact.read.length > 0 ? contact.read.map(identifierOf) : undefined,
        userAgent,
      },
    }
  },
  request: (adjustments, { settings, isProbe }) => {
    const customer = customerDigits(settings.customerId)
    const action = `customers/${customer}/conversionActions/${actionIn(settings.conversionActionId)}`
    return {
      path: `/customers/${customer}:uploadConversionAdjustments`,
      body: {
        conversionAdjustments: isProbe ? adjustments.map((one) => ({ ...one, conversionAction: action })) : adjustments,
        partialFailure: true,
        ...(isProbe && { validateOnly: true }),
      },
    }
  },
  answer: { results: adjustmentResults },
  probe: {
    names: 'conversion action and its account',
    needs: ['customerId', 'conversionActionId'],
    credentials: 'OAuth client and the refresh token',
    exchanges: true,
    // No conversion has this order ID. Google reports that, once it knows the account and the conversion action.
    events: () => [
      {
        adjustmentType: 'RETRACTION',
        adjustmentDateTime: dateTimeOf(new Date(Date.now() - 86_400_000).toISOString()),
        orderId: 'penstock-check',
      },
    ],
  },
})
