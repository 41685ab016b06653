import { ConnectorError, secret } from '@penstock/connector'
import { restApi } from '../kit/api.ts'
import { entitySource } from '../kit/entity-source.ts'
import { day, dimension, ofAccount, type ReportColumn } from '../kit/report-columns.ts'
import { addDays } from '../kit/report-days.ts'
import type { ReportLevel, ReportRequest } from '../kit/report-facts.ts'
import { rowsIn } from '../kit/report-rows.ts'
import { type JsonObject, objectIn, textIn } from '../platform-api/json.ts'
import { unusableNext } from '../platform-api/next-page.ts'
import { stripe } from './platform.ts'

const version = '2026-08-26.dahlia'

/** The path of each kind of object, and what lists of it need. Each list can be read by the time of creation. */
const lists: Readonly<Record<string, string>> = {
  payment_intent: '/payment_intents',
  charge: '/charges',
  refund: '/refunds',
  dispute: '/disputes',
  customer: '/customers',
  // Without it, Stripe omits cancelled subscriptions.
  subscription: '/subscriptions?status=all',
  invoice: '/invoices',
  product: '/products',
  price: '/prices',
  coupon: '/coupons',
  promotion_code: '/promotion_codes',
  payout: '/payouts',
  balance_transaction: '/balance_transactions',
  checkout_session: '/checkout/sessions',
  event: '/events',
}

const level = (...columns: string[]): ReportLevel => ({ key: ['id'], columns: ['created', ...columns, 'object_json'] })
const paid = ['amount', 'currency', 'status']

const flag = (description: string): ReportColumn => dimension(description, { type: 'boolean' })
const time = (description: string): ReportColumn => dimension(description, { type: 'seconds' })
const whole = (description: string): ReportColumn => dimension(description, { type: 'whole' })
const list = (description: string, at?: string): ReportColumn =>
  dimension(description, { type: 'json', ...(at !== undefined && { at }) })

/** The parameters of a page: objects that were created on some days of UTC, the newest first. */
const queryOf = ({ from, to, pageRows }: ReportRequest, after: string | undefined) => ({
  'created[gte]': String(Date.parse(`${from}T00:00:00Z`) / 1000),
  'created[lt]': String(Date.parse(`${addDays(to, 1)}T00:00:00Z`) / 1000),
  limit: String(pageRows),
  starting_after: after,
})

/** An object as a row: with the day on which it was created, and whole. */
const rowOf = (object: JsonObject): JsonObject => ({
  ...object,
  created_day: typeof object.created === 'number' ? new Date(object.created * 1000).toISOString().slice(0, 10) : null,
  object_json: object,
})

/** Payments, customers, subscriptions and invoices of Stripe. */
export const stripeBilling = entitySource({
  slug: 'stripe-billing',
  name: 'Stripe',
  platform: stripe,
  dataType: 'reporting',
  dataTypeCategory: 'reporting',
  description: 'Reads payments, refunds, disputes, customers, subscriptions, invoices and payouts of Stripe.',
  actions: ['get'],
  notes:
    'A row is an object as it is now: its most used fields are columns, and object_json contains all of it. Amounts are in the smallest unit of the currency, as Stripe has them: 1099 is 10.99 EUR, and 1099 JPY. Days are those of UTC. An object that changes after the look-back window is not read again: read the level event, which has each change of the last 30 days with the object as it then was. Without account IDs, the account of the key is read; a platform can name connected accounts. Use a restricted key with read access to the objects. Stripe allows 100 requests a second, or 25 with a test key.',
  tested:
    'Recorded answers made of the example objects that Stripe publishes with its OpenAPI document; not Stripe itself.',
  api: { version, ends: 'Stripe supports old versions; no end is announced' },
  platformApi: restApi({
    name: 'Stripe',
    baseUrl: 'https://api.stripe.com/v1',
    headers: { 'stripe-version': version },
    errors: {
      codeAt: 'error.code',
      codes: {
        rate_limit: 'rate_limited',
        lock_timeout: 'conflict',
        api_key_expired: ['expired_credentials', 'Create a new key in the dashboard of Stripe and save it.'],
        account_invalid: ['object_not_found', 'Check the ID of the account, and that it is connected to yours.'],
        resource_missing: [
          'object_not_found',
          'Start the transfer again: an object was deleted while pages were read.',
        ],
      },
      statuses: {
        400: ['request_refused', 'Check the level and the account IDs.'],
        401: ['invalid_credentials', 'Create a new key in the dashboard of Stripe and save it.'],
        403: ['permission_denied', 'Give the restricted key read access to these objects and to the account.'],
        404: ['object_not_found', 'Check the IDs of the accounts.'],
      },
    },
  }),
  auth: { bearer: 'apiKey' },
  secrets: {
    apiKey: secret({
      label: 'Secret or restricted key',
      description: 'Key of the account, such as rk_live_…',
      required: true,
    }),
  },
  accounts: {
    label: 'Account IDs',
    id: /^acct_[A-Za-z0-9]{1,60}$/,
    example: 'acct_1PgafTB7WZ01zgkW',
    all: true,
    get: () => ({ path: '/account' }),
    about({ json }, account) {
      const { id, default_currency: currency } = objectIn(json)
      if (textIn(id) !== undefined) return { currency: textIn(currency), more: { isOwn: id === account } }
      throw new ConnectorError('malformed_response', 'Stripe answered without the ID of the account.')
    },
  },
  listed: {
    accountIds: {
      kind: 'account',
      page: () => ({ path: '/account' }),
      found: ({ json }) => [{ id: objectIn(json).id, name: objectIn(objectIn(json).business_profile).name }],
    },
  },
  always: ['created_day', 'account_id', 'livemode'],
  levels: {
    payment_intent: level(
      ...[...paid, 'amount_received', 'customer', 'description', 'payment_method', 'latest_charge', 'receipt_email'],
      ...['capture_method', 'canceled_at', 'cancellation_reason', 'metadata'],
    ),
    charge: level(
      ...[...paid, 'amount_captured', 'amount_refunded', 'paid', 'refunded', 'disputed', 'customer', 'payment_intent'],
      ...['payment_method_type', 'billing_email', 'billing_country', 'description', 'balance_transaction'],
      ...['failure_code', 'metadata'],
    ),
    refund: level(...paid, 'reason', 'charge', 'payment_intent', 'balance_transaction', 'metadata'),
    dispute: level(...paid, 'reason', 'charge', 'payment_intent', 'evidence_due_by', 'metadata'),
    customer: level(
      ...['email', 'name', 'phone', 'description', 'country', 'currency', 'balance', 'delinquent'],
      ...['tax_exempt', 'metadata'],
    ),
    subscription: level(
      ...['customer', 'status', 'currency', 'start_date', 'trial_start', 'trial_end', 'cancel_at_period_end'],
      ...['cancel_at', 'canceled_at', 'ended_at', 'collection_method', 'latest_invoice', 'items', 'metadata'],
    ),
    invoice: level(
      ...['number', 'customer', 'customer_email', 'invoice_subscription', 'status', 'currency', 'subtotal', 'total'],
      ...['amount_due', 'amount_paid', 'amount_remaining', 'billing_reason', 'collection_method', 'due_date'],
      ...['period_start', 'period_end', 'lines', 'metadata'],
    ),
    product: level('name', 'active', 'description', 'default_price', 'updated', 'metadata'),
    price: level(
      ...['product', 'active', 'type', 'currency', 'unit_amount', 'unit_amount_decimal', 'recurring', 'nickname'],
      ...['lookup_key', 'metadata'],
    ),
    coupon: level(
      ...['name', 'percent_off', 'amount_off', 'currency', 'duration', 'duration_in_months', 'times_redeemed'],
      ...['redeem_by', 'valid', 'metadata'],
    ),
    promotion_code: level(
      ...['code', 'promotion_coupon', 'customer', 'active', 'times_redeemed', 'expires_at', 'metadata'],
    ),
    payout: level(
      ...[...paid, 'arrival_date', 'automatic', 'method', 'type', 'description', 'balance_transaction'],
      ...['failure_code', 'metadata'],
    ),
    balance_transaction: level(
      ...[
        ...paid,
        'fee',
        'net',
        'type',
        'reporting_category',
        'source',
        'available_on',
        'exchange_rate',
        'description',
      ],
    ),
    checkout_session: level(
      ...['status', 'payment_status', 'mode', 'currency', 'amount_subtotal', 'amount_total', 'customer'],
      ...['customer_details_email', 'client_reference_id', 'payment_intent', 'subscription', 'invoice', 'metadata'],
    ),
    event: {
      key: ['id'],
      columns: ['created', 'type', 'event_object', 'event_object_id', 'api_version', 'event_data'],
      days: { backMax: 30 },
    },
  },
  columns: {
    created_day: day('Day on which the object was created, in UTC'),
    account_id: ofAccount('account', 'ID of the account'),
    livemode: flag('Whether it is real, and not a test'),
    id: dimension('ID of the object'),
    created: time('When the object was created'),
    object_json: list('The whole object, as JSON'),
    active: flag('Whether it can be used'),
    amount: whole('Amount, in the smallest unit of the currency'),
    amount_captured: whole('Amount that was captured'),
    amount_due: whole('Amount that is due'),
    amount_off: whole('Amount that the coupon takes off'),
    amount_paid: whole('Amount that was paid'),
    amount_received: whole('Amount that was received'),
    amount_refunded: whole('Amount that was refunded'),
    amount_remaining: whole('Amount that remains to be paid'),
    amount_subtotal: whole('Amount before discounts and taxes'),
    amount_total: whole('Amount after discounts and taxes'),
    api_version: dimension('Version of the API by which event_data is written'),
    arrival_date: time('When the payout arrives at the bank'),
    automatic: flag('Whether the payout follows a schedule'),
    available_on: time('When the amount becomes available'),
    balance: whole('Balance of the customer; credit is negative'),
    balance_transaction: dimension('ID of the transaction of the balance'),
    billing_country: dimension('Country of the billing address', { at: 'billing_details.address.country' }),
    billing_email: dimension('Email address of the billing details', { at: 'billing_details.email' }),
    billing_reason: dimension('Why the invoice was created'),
    cancel_at: time('When the subscription will be cancelled'),
    cancel_at_period_end: flag('Whether the subscription is cancelled at the end of its period'),
    canceled_at: time('When it was cancelled'),
    cancellation_reason: dimension('Why it was cancelled'),
    capture_method: dimension('When the amount is captured'),
    charge: dimension('ID of the charge'),
    client_reference_id: dimension('Your own reference'),
    code: dimension('Code that customers enter'),
    collection_method: dimension('How the customer pays'),
    country: dimension('Country of the customer', { at: 'address.country' }),
    currency: dimension('Currency, as ISO 4217 in lower case'),
    customer: dimension('ID of the customer'),
    customer_details_email: dimension('Email address of the customer', { at: 'customer_details.email' }),
    customer_email: dimension('Email address of the customer'),
    default_price: dimension('ID of the usual price'),
    delinquent: flag('Whether the latest invoice was not paid'),
    description: dimension('Description'),
    disputed: flag('Whether the charge is disputed'),
    due_date: time('When the invoice is due'),
    duration: dimension('How long the coupon applies'),
    duration_in_months: whole('Number of months for which it applies'),
    email: dimension('Email address of the customer'),
    ended_at: time('When the subscription ended'),
    event_data: list('The object as it was after the change, as JSON', 'data.object'),
    event_object: dimension('Kind of the object that changed', { at: 'data.object.object' }),
    event_object_id: dimension('ID of the object that changed', { at: 'data.object.id' }),
    evidence_due_by: dimension('When evidence must be handed in', { type: 'seconds', at: 'evidence_details.due_by' }),
    exchange_rate: dimension('Exchange rate', { type: 'decimal' }),
    expires_at: time('When the code expires'),
    failure_code: dimension('Why it failed'),
    fee: whole('Fees, in the smallest unit of the currency'),
    invoice: dimension('ID of the invoice'),
    invoice_subscription: dimension('ID of the subscription', { at: 'parent.subscription_details.subscription' }),
    items: list('Items of the subscription with their prices, as JSON', 'items.data'),
    latest_charge: dimension('ID of the latest charge'),
    latest_invoice: dimension('ID of the latest invoice'),
    lines: list('First lines of the invoice, as JSON', 'lines.data'),
    lookup_key: dimension('Key by which your system finds the price'),
    metadata: list('Your own keys and values, as JSON'),
    method: dimension('How fast the payout is'),
    mode: dimension('Whether it is a payment, a setup or a subscription'),
    name: dimension('Name'),
    net: whole('Amount without fees'),
    nickname: dimension('Short description of the price'),
    number: dimension('Number of the invoice'),
    paid: flag('Whether the charge succeeded'),
    payment_intent: dimension('ID of the payment intent'),
    payment_method: dimension('ID of the payment method'),
    payment_method_type: dimension('Kind of payment method', { at: 'payment_method_details.type' }),
    payment_status: dimension('Whether it was paid'),
    percent_off: dimension('Percent that the coupon takes off', { type: 'decimal' }),
    period_end: time('End of the period'),
    period_start: time('Start of the period'),
    phone: dimension('Phone number of the customer'),
    product: dimension('ID of the product'),
    promotion_coupon: dimension('ID of the coupon', { at: 'promotion.coupon' }),
    reason: dimension('Reason'),
    receipt_email: dimension('Email address for the receipt'),
    recurring: list('How often the price is charged, as JSON'),
    redeem_by: time('Until when the coupon can be redeemed'),
    refunded: flag('Whether the charge was refunded as a whole'),
    reporting_category: dimension('Category of the transaction'),
    source: dimension('ID of the object that caused the transaction'),
    start_date: time('When the subscription started'),
    status: dimension('Status'),
    subscription: dimension('ID of the subscription'),
    subtotal: whole('Amount before discounts and taxes'),
    tax_exempt: dimension('Whether the customer pays taxes'),
    times_redeemed: whole('How often it was redeemed'),
    total: whole('Amount after discounts and taxes'),
    trial_end: time('When the trial ends'),
    trial_start: time('When the trial began'),
    type: dimension('Kind'),
    unit_amount: whole('Price of a unit, in the smallest unit of the currency'),
    unit_amount_decimal: dimension('The same with fractions', { type: 'decimal' }),
    updated: time('When it was changed'),
    valid: flag('Whether the coupon can still be redeemed'),
  },
  // The first objects of Stripe were created in 2010.
  days: { backMax: 6_500, lookBack: 30, chunk: 31, zone: { fixed: 'UTC' } },
  readers: 2,
  report: {
    form: 'pages',
    pageRows: 100,
    page: (to, after) => ({
      path: lists[to.level] ?? '/events',
      query: queryOf(to, after),
      ...(to.about.more?.isOwn !== true && { headers: { 'stripe-account': to.account } }),
    }),
    rows: ({ json }) => rowsIn(objectIn(json).data)?.map(rowOf),
    next({ json }) {
      const { has_more: hasMore, data } = objectIn(json)
      if (typeof hasMore !== 'boolean')
        throw unusableNext('Stripe', 'the answer does not say if there are more objects')
      return hasMore ? (rowsIn(data)?.at(-1)?.id ?? '') : undefined
    },
  },
  check: { authentication: () => ({ path: '/account' }) },
})
