import type { Stored } from './shopify-graphql.ts'

/** Mutations of customers, as Shopify runs them for the lines of a file, one after the other. */

type UserError = { code?: string; field: string[] }
type Payload = { customer?: Stored | null; node?: Stored | null; userErrors: UserError[] }
type Variables = Record<string, unknown>

const inputFields = ['email', 'phone', 'firstName', 'lastName', 'note', 'locale', 'tags', 'taxExempt']
const emailOf = (customer: Stored) => (customer.defaultEmailAddress as Stored | null)?.emailAddress
const phoneOf = (customer: Stored) => (customer.defaultPhoneNumber as Stored | null)?.phoneNumber
const refused = (code: string, ...field: string[]): Payload => ({ customer: null, userErrors: [{ code, field }] })
const done = (customer: Stored): Payload => ({ customer: { id: customer.id }, userErrors: [] })

/** The customers of a shop by what finds them. */
export class Customers {
  readonly all: Stored[]
  readonly by: {
    readonly id: Map<unknown, Stored>
    readonly email: Map<unknown, Stored>
    readonly phone: Map<unknown, Stored>
  }

  constructor(all: Stored[]) {
    this.all = all
    const indexed = (of: (one: Stored) => unknown) => new Map(all.map((one) => [of(one), one]))
    this.by = { id: indexed(({ id }) => id), email: indexed(emailOf), phone: indexed(phoneOf) }
  }

  /** Finds a customer again whose values changed. */
  index(customer: Stored): void {
    this.by.id.set(customer.id, customer)
    this.by.email.set(emailOf(customer), customer)
    this.by.phone.set(phoneOf(customer), customer)
  }
}

/** Runs a mutation with the variables of a line. Throws for variables that do not have its types. */
export function runMutation(customers: Customers, field: string, variables: Variables): Payload {
  const run = mutations[field]
  if (!run) throw new TypeError(`Field '${field}' doesn't exist on type 'Mutation'`)
  return run(customers, variables)
}

const mutations: Readonly<Record<string, (customers: Customers, variables: Variables) => Payload>> = {
  customerSet,
  tagsAdd(customers, { id, tags }) {
    const customer = customers.by.id.get(id)
    if (!customer || !Array.isArray(tags)) return { node: null, userErrors: [{ field: ['id'] }] }
    customer.tags = [...new Set([...(customer.tags as string[]), ...tags])].sort()
    return { node: { id }, userErrors: [] }
  },
  customerEmailMarketingConsentUpdate(customers, { input }) {
    const { customerId, emailMarketingConsent: consent } = input as Variables
    const customer = customers.by.id.get(customerId)
    const email = customer?.defaultEmailAddress as Stored | null | undefined
    if (!customer || !email) return refused('INVALID', 'input', 'customerId')
    const { marketingState, marketingOptInLevel, consentUpdatedAt } = consent as Stored
    if (!isSettable(marketingState)) return refused('INVALID', 'input', 'emailMarketingConsent', 'marketingState')
    Object.assign(email, { marketingState, marketingOptInLevel, marketingUpdatedAt: consentUpdatedAt })
    return done(customer)
  },
  customerSmsMarketingConsentUpdate(customers, { input }) {
    const { customerId, smsMarketingConsent: consent } = input as Variables
    const customer = customers.by.id.get(customerId)
    const phone = customer?.defaultPhoneNumber as Stored | null | undefined
    if (!customer || !phone) return refused('INVALID', 'input', 'customerId')
    const { marketingState, marketingOptInLevel, consentUpdatedAt } = consent as Stored
    if (!isSettable(marketingState)) return refused('INVALID', 'input', 'smsMarketingConsent', 'marketingState')
    phone.smsMarketingConsent = { state: marketingState, optInLevel: marketingOptInLevel, updatedAt: consentUpdatedAt }
    return done(customer)
  },
}

const isSettable = (state: unknown) => ['SUBSCRIBED', 'UNSUBSCRIBED', 'PENDING'].includes(String(state))

function customerSet(customers: Customers, { identifier, input }: Variables): Payload {
  const [[by = '', value] = [], ...others] = Object.entries(identifier as Variables)
  const given = input as Variables
  const unknown = Object.keys(given).find((key) => !inputFields.includes(key))
  if (unknown || others.length > 0 || !['id', 'email', 'phone'].includes(by)) {
    throw new TypeError('Variable $input of type CustomerSetInput! was provided invalid value')
  }
  if (by !== 'id' && given[by] === undefined) return refused('MISSING_FIELD_REQUIRED', 'input', by)
  if (by !== 'id' && given[by] !== value) return refused('INPUT_MISMATCH', 'identifier')
  const found = customers.by[by as 'id' | 'email' | 'phone'].get(value)
  if (by === 'id' && !found) return refused('NOT_FOUND', 'identifier', 'id')
  const { email, phone, firstName } = given
  if (typeof email === 'string' && !/^\S+@\S+\.\S+$/.test(email)) return refused('INVALID', 'input', 'email')
  if (typeof firstName === 'string' && firstName.length > 255) return refused('TOO_LONG', 'input', 'firstName')
  const isTaken = (key: 'email' | 'phone', wanted: unknown) =>
    typeof wanted === 'string' && (customers.by[key].get(wanted) ?? found) !== found
  if (isTaken('email', email)) return refused('TAKEN', 'input', 'email')
  if (isTaken('phone', phone)) return refused('TAKEN', 'input', 'phone')
  const now = new Date().toISOString().replace(/\.\d+Z$/, 'Z')
  const customer = found ?? newCustomer(customers.all.length + 1, now)
  for (const key of ['firstName', 'lastName', 'note', 'locale', 'taxExempt'] as const) {
    if (given[key] !== undefined) customer[key] = given[key]
  }
  if (Array.isArray(given.tags)) customer.tags = [...given.tags].sort()
  if (email !== undefined && email !== emailOf(customer)) {
    customer.defaultEmailAddress = email === null ? null : { emailAddress: email, marketingState: 'NOT_SUBSCRIBED' }
  }
  if (phone !== undefined && phone !== phoneOf(customer)) {
    customer.defaultPhoneNumber =
      phone === null ? null : { phoneNumber: phone, smsMarketingConsent: { state: 'NEVER_SUBSCRIBED' } }
  }
  customer.updatedAt = now
  if (!found) customers.all.push(customer)
  customers.index(customer)
  return done(customer)
}

const newCustomer = (number: number, now: string): Stored => ({
  id: `gid://shopify/Customer/${1_000 + number}`,
  state: 'DISABLED',
  tags: [],
  taxExempt: false,
  verifiedEmail: true,
  locale: 'en',
  numberOfOrders: '0',
  amountSpent: { amount: '0.0', currencyCode: 'EUR' },
  createdAt: now,
})
