import { type Batch, type Cell, ConnectorError, type Rejection, type Values } from '@penstock/connector'
import { type JsonObject, listIn, parseJson, textIn } from '../platform-api/json.ts'
import { type CustomerColumn, consentStates, optInLevels, unsetStates } from './customer-columns.ts'

/** How rows become customers, by the settings of the connection. */
export type CustomerRules = {
  /** The column that finds a customer. */
  readonly key: 'email' | 'phone' | 'customer_id'
  /** Whether an empty cell clears the field of the customer. */
  readonly clears: boolean
  /** Whether tags are added to the customer's tags or replace them. */
  readonly addsTags: boolean
}

/** Consent to marketing, in the form that Shopify accepts. */
export type Consent = {
  readonly marketingState: string
  readonly marketingOptInLevel?: string
  readonly consentUpdatedAt?: string
}

/** A customer to send, and the rows of the batch that it is made of. */
export type SentCustomer = {
  readonly rows: readonly number[]
  /** The value that finds the customer. */
  readonly key: string
  /** The fields of the customer that are set. */
  readonly input: JsonObject
  /** Tags to add. Absent if tags are replaced or not mapped. */
  readonly tags?: readonly string[]
  readonly email?: Consent
  readonly sms?: Consent
}

const keys = { Email: 'email', Phone: 'phone', 'Customer ID': 'customer_id' } as const

/** Parses the settings. Throws `invalid_setting` for an invalid key. */
export function rulesOf({ matchBy, emptyCells, tagMode }: Values): CustomerRules {
  const chosen = String(matchBy ?? 'Email')
  const key = Object.entries(keys).find(([label]) => label === chosen)?.[1]
  if (!key)
    throw new ConnectorError('invalid_setting', `Set “Find customers by” to one of: ${Object.keys(keys).join(', ')}.`)
  return { key, clears: emptyCells === 'Clear', addsTags: tagMode !== 'Replace' }
}

/** Throws `columns_do_not_fit` if no column finds customers. */
export function assertKey({ key }: CustomerRules, columns: readonly string[]): void {
  if (columns.includes(key)) return
  const message = `No column is mapped to ${key}, by which Shopify finds customers; map one to it, or change “Find customers by”.`
  throw new ConnectorError('columns_do_not_fit', message)
}

type Wrong = { readonly reason: string; readonly field: CustomerColumn }

/** The rows of a batch as customers, one for each key, and the rows that are rejected before they are sent. */
export function readRows(
  rules: CustomerRules,
  { columns, rows }: Batch,
): { readonly customers: readonly SentCustomer[]; readonly rejected: readonly Rejection[] } {
  const merged = new Map<string, SentCustomer>()
  const rejected: Rejection[] = []
  for (const [index, row] of rows.entries()) {
    const cells = new Map(columns.map((column, at) => [column, textOf(row[at])]))
    const customer = customerOf(rules, cells)
    if ('reason' in customer) {
      rejected.push({ index, ...customer })
      continue
    }
    // Of each field the last value counts, as if the rows had been sent one after the other.
    const before = merged.get(customer.key)
    const input = { ...before?.input, ...customer.input }
    const tags = [...new Set([...(before?.tags ?? []), ...(customer.tags ?? [])])]
    const rows = [...(before?.rows ?? []), index]
    merged.set(customer.key, { ...before, ...customer, input, rows, ...(tags.length > 0 && { tags }) })
  }
  return { customers: [...merged.values()], rejected }
}

const textOf = (cell: Cell | undefined): string => (cell === null || cell === undefined ? '' : String(cell).trim())

type Cells = ReadonlyMap<string, string>

function customerOf(rules: CustomerRules, cells: Cells): Omit<SentCustomer, 'rows'> | Wrong {
  const key = keyOf(rules, cells.get(rules.key) ?? '')
  if (typeof key !== 'string') return key
  const input: Record<string, unknown> = rules.key === 'customer_id' ? {} : { [rules.key]: key }
  for (const [column, field] of texts) {
    const value = cells.get(column)
    if (value === undefined || column === rules.key) continue
    if (value !== '') input[field] = value
    else if (rules.clears && column !== 'locale') input[field] = null
  }
  const { tax_exempt: exempt = '' } = Object.fromEntries(cells)
  if (exempt !== '') {
    const value = flags[exempt.toLowerCase()]
    if (value === undefined) return { reason: 'The value must be true or false.', field: 'tax_exempt' }
    input.taxExempt = value
  }
  const tags = tagsOf(cells.get('tags'))
  if (tags === undefined) {
    const reason = `The tags must be at most ${tagsMax}, of ${tagLengthMax} characters at most each.`
    return { reason, field: 'tags' }
  }
  const email = consentOf(cells, 'email')
  if (email && 'reason' in email) return email
  const sms = consentOf(cells, 'sms')
  if (sms && 'reason' in sms) return sms
  const replaces = !rules.addsTags && (tags.length > 0 || (rules.clears && cells.has('tags')))
  return {
    key,
    input: replaces ? { ...input, tags } : input,
    ...(rules.addsTags && tags.length > 0 && { tags }),
    ...(email && { email }),
    ...(sms && { sms }),
  }
}

const texts = [
  ['email', 'email'],
  ['phone', 'phone'],
  ['first_name', 'firstName'],
  ['last_name', 'lastName'],
  ['note', 'note'],
  ['locale', 'locale'],
] as const

const flags: Readonly<Record<string, boolean>> = { true: true, false: false, yes: true, no: false, 1: true, 0: false }

function keyOf({ key }: CustomerRules, value: string): string | Wrong {
  if (value === '') return { reason: 'The row has no value by which Shopify could find the customer.', field: key }
  if (key === 'email') {
    if (/^[^\s@]{1,254}@[^\s@]{1,254}$/.test(value)) return value.toLowerCase()
    return { reason: 'The value is no e-mail address.', field: key }
  }
  if (key === 'phone') {
    const digits = value.replace(/[\s().-]/g, '')
    return /^\+?\d{5,20}$/.test(digits) ? digits : { reason: 'The value is no phone number.', field: key }
  }
  const [, id] = /^(?:gid:\/\/shopify\/Customer\/)?(\d{1,20})$/.exec(value) ?? []
  if (id !== undefined) return `gid://shopify/Customer/${id}`
  return {
    reason: 'The value must be the ID of a customer, a number or gid://shopify/Customer/ with a number.',
    field: key,
  }
}

const tagsMax = 250
const tagLengthMax = 255

/** The tags of a cell, without duplicates. `undefined` if Shopify does not accept them. */
function tagsOf(cell = ''): readonly string[] | undefined {
  const list = cell.startsWith('[') ? parseJson(cell) : undefined
  const found = Array.isArray(list) ? listIn(list).map((tag) => textIn(tag) ?? '') : cell.split(',')
  const tags = [...new Set(found.map((tag) => tag.trim()).filter((tag) => tag !== ''))]
  return tags.length <= tagsMax && tags.every(({ length }) => length <= tagLengthMax) ? tags : undefined
}

function consentOf(cells: Cells, channel: 'email' | 'sms'): Consent | Wrong | undefined {
  const [stateColumn, levelColumn, timeColumn] = [
    `${channel}_marketing_state`,
    `${channel}_marketing_opt_in_level`,
    `${channel}_marketing_updated_at`,
  ] as const
  const state = (cells.get(stateColumn) ?? '').toUpperCase()
  // Without a state there is nothing that the others could say.
  if (state === '' || unsetStates.some((one) => one === state)) return undefined
  if (!consentStates.some((one) => one === state)) {
    const reason = `The value must be ${consentStates.join(', ')}; Shopify sets other states itself.`
    return { reason, field: stateColumn }
  }
  const level = (cells.get(levelColumn) ?? '').toUpperCase()
  if (level !== '' && !optInLevels.some((one) => one === level)) {
    return { reason: `The value must be ${optInLevels.join(', ')}.`, field: levelColumn }
  }
  const said = cells.get(timeColumn) ?? ''
  const time = /^\d{4}-\d\d-\d\d(?:[T ]|$)/.test(said) ? Date.parse(said) : Number.NaN
  if (said !== '' && Number.isNaN(time)) {
    return { reason: 'The value must be a time such as 2026-01-31T12:00:00Z.', field: timeColumn }
  }
  return {
    marketingState: state,
    ...(level !== '' && { marketingOptInLevel: level }),
    ...(said !== '' && { consentUpdatedAt: new Date(time).toISOString() }),
  }
}
