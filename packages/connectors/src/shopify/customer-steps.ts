import type { ConnectorError } from '@penstock/connector'
import { isObject, type JsonObject, listIn, objectIn, textIn } from '../platform-api/json.ts'
import { accessDenied, codesOf, scopesIn } from './api.ts'
import type { CustomerColumn } from './customer-columns.ts'
import type { SentCustomer } from './customer-rows.ts'

/** One mutation that Shopify runs for each customer that it concerns. */
export type CustomerStep = {
  readonly field:
    | 'customerSet'
    | 'tagsAdd'
    | 'customerEmailMarketingConsentUpdate'
    | 'customerSmsMarketingConsentUpdate'
  /** The document with a name. */
  readonly text: (name: string) => string
  /**
   * The variables for a customer. `undefined` if the step does not apply to the customer. @param id in Shopify, from the first
   * step
   */
  readonly variables: (customer: SentCustomer, id: string) => JsonObject | undefined
  /** The columns of the fields that its errors can name. */
  readonly columns: Readonly<Record<string, CustomerColumn>>
}

const consent = (channel: 'email' | 'sms'): Readonly<Record<string, CustomerColumn>> => ({
  marketingState: `${channel}_marketing_state`,
  marketingOptInLevel: `${channel}_marketing_opt_in_level`,
  consentUpdatedAt: `${channel}_marketing_updated_at`,
})

/** The first step creates or updates customers. Later steps use the IDs of the customers. */
export const setCustomer = (key: 'email' | 'phone' | 'customer_id'): CustomerStep => ({
  field: 'customerSet',
  text: (name) =>
    `mutation ${name}($identifier: CustomerSetIdentifiers!, $input: CustomerSetInput!) { customerSet(identifier: $identifier, input: $input) { customer { id } userErrors { code field } } }`,
  variables: ({ key: value, input }) => ({ identifier: { [key === 'customer_id' ? 'id' : key]: value }, input }),
  columns: {
    id: 'customer_id',
    email: 'email',
    phone: 'phone',
    firstName: 'first_name',
    lastName: 'last_name',
    note: 'note',
    locale: 'locale',
    tags: 'tags',
    taxExempt: 'tax_exempt',
  },
})

/** Steps behind the first one, in their order. */
export const furtherSteps: readonly CustomerStep[] = [
  {
    field: 'tagsAdd',
    text: (name) =>
      `mutation ${name}($id: ID!, $tags: [String!]!) { tagsAdd(id: $id, tags: $tags) { node { id } userErrors { field } } }`,
    variables: ({ tags }, id) => (tags ? { id, tags } : undefined),
    columns: { tags: 'tags' },
  },
  {
    field: 'customerEmailMarketingConsentUpdate',
    text: (name) =>
      `mutation ${name}($input: CustomerEmailMarketingConsentUpdateInput!) { customerEmailMarketingConsentUpdate(input: $input) { customer { id } userErrors { code field } } }`,
    variables: ({ email }, customerId) => email && { input: { customerId, emailMarketingConsent: email } },
    columns: consent('email'),
  },
  {
    field: 'customerSmsMarketingConsentUpdate',
    text: (name) =>
      `mutation ${name}($input: CustomerSmsMarketingConsentUpdateInput!) { customerSmsMarketingConsentUpdate(input: $input) { customer { id } userErrors { code field } } }`,
    variables: ({ sms }, customerId) => sms && { input: { customerId, smsMarketingConsent: sms } },
    columns: consent('sms'),
  },
]

/** The result of a customer in a step: it is done, refused, or sent again. */
export type StepResult =
  | { readonly id: string }
  | { readonly reason: string; readonly field?: CustomerColumn }
  | 'again'

const transient = new Set(['THROTTLED', 'INTERNAL_SERVER_ERROR', 'INTERNAL_ERROR', 'TIMEOUT', 'SERVICE_UNAVAILABLE'])

const advice: Readonly<Record<string, string>> = {
  BLANK: 'a field that a customer needs has no value.',
  INVALID: 'a value is invalid.',
  TAKEN: 'another customer has this value.',
  TOO_LONG: 'a value is too long.',
  TOO_SHORT: 'a value is too short.',
  INCLUSION: 'a value is not one that Shopify knows.',
  NOT_FOUND: 'the shop has no customer with this ID.',
  INPUT_MISMATCH: 'the value that finds the customer is another one than is set.',
}

const what: Readonly<Record<CustomerStep['field'], string>> = {
  customerSet: 'Shopify did not accept the row',
  tagsAdd: 'Shopify stored the customer, but did not add the tags',
  customerEmailMarketingConsentUpdate: 'Shopify stored the customer, but did not accept the consent to e-mails',
  customerSmsMarketingConsentUpdate: 'Shopify stored the customer, but did not accept the consent to text messages',
}

/** The reason of a row that Shopify neither accepts nor refuses, however often it is sent. */
export const unreportedReason = ({ field }: CustomerStep): string =>
  `${what[field]}: it reports an internal error or no result for it, also when it was sent again. Check the customer in Shopify.`

/**
 * Parses a line of a result. Shopify's words are omitted, because they can quote values.
 * @throws ConnectorError `permission_denied` if the app is not allowed to run the mutation at all
 */
export function resultOf(step: CustomerStep, line: JsonObject): StepResult {
  const payload = objectIn(objectIn(line.data)[step.field])
  const errors = listIn(line.errors).map(objectIn)
  const userErrors = listIn(payload.userErrors).map(objectIn)
  const codes = codesOf([...errors, ...userErrors])
  if (codes.includes('ACCESS_DENIED')) throw denied(errors)
  if (codes.some((code) => transient.has(code))) return 'again'
  if (errors.length > 0 || userErrors.length > 0) return refusalOf(step, codes, userErrors)
  const object = [payload.customer, payload.node].find(isObject)
  const id = textIn(object?.id)
  return id !== undefined && /^gid:\/\/shopify\/Customer\/\d{1,20}$/.test(id) ? { id } : 'again'
}

const denied = (errors: readonly JsonObject[]): ConnectorError => accessDenied(scopesIn(errors) || 'write_customers')

function refusalOf(step: CustomerStep, codes: readonly string[], userErrors: readonly JsonObject[]): StepResult {
  const [code] = codes
  const keys = userErrors.flatMap(({ field }) => listIn(field)).flatMap((key) => textIn(key) ?? [])
  const column = keys.flatMap((key) => (Object.hasOwn(step.columns, key) ? step.columns[key] : undefined) ?? [])[0]
  const known = code !== undefined && Object.hasOwn(advice, code) ? advice[code] : 'check its values.'
  const shown = code === undefined ? '' : ` (${code})`
  return { reason: `${what[step.field]}${shown}: ${known}`, ...(column !== undefined && { field: column }) }
}
