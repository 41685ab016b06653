import { isDeepStrictEqual } from 'node:util'
import type { ErrorCode, OperationId } from '@penstock/wire'

/** The service as `docs/api-decisions.md` describes it, in memory: its resources, and the possible answers of a call. */

export type Status = 'In-progress' | 'active' | 'disabled' | 'deleted' | 'broken' | 'offline'
export type PreviousStatus = Exclude<Status, 'disabled' | 'deleted'>
export type Value = string | number | boolean | readonly string[]
export type Values = Record<string, Value>

/** A configuration of a connector. `values` holds settings and secrets alike. */
export type Configuration = {
  configurationId: string
  configured: boolean
  name: string
  secretName: string
  values: Values
  saved: boolean
  version: number
}

/** A connector in a sub-account with its first configuration, and the others by their identifiers. */
export type Added = Configuration & { connectorId: string; order: number; others: Map<string, Configuration> }

export type Connection = {
  id: string
  name: string
  status: Status
  previous: PreviousStatus | null
  src: string
  dest: string
  /** The configuration that it uses, if it is not the first one. */
  srcOther: string | undefined
  destOther: string | undefined
  srcConfig: Values
  destConfig: Values
  version: number
  order: number
  /** Days since it was deleted, undefined while it is not. */
  deletedDays: number | undefined
  /** It was deleted when its account was. */
  withAccount: boolean
}

export type Account = {
  id: string
  org: number
  name: string
  enabled: boolean
  version: number
  order: number
  deletedDays: number | undefined
  added: Map<string, Added>
  connections: Map<string, Connection>
}

type Answered = { org: number; key: string; request: string; payload: unknown; hours: number }

export type Model = {
  accounts: Map<string, Account>
  /** First answers, by organization and Idempotency-Key. */
  keys: Map<string, Answered>
  /** Every ETag seen, by resource and version. */
  etags: Map<string, string>
  /** Counts created resources. Newer resources have higher numbers. */
  clock: number
}

/** One request. */
export type Call = {
  readonly org: number
  readonly operation: OperationId
  readonly accountId?: string
  readonly id?: string
  readonly query?: Readonly<Record<string, string | number | boolean>>
  readonly body?: Readonly<Record<string, unknown>>
  readonly key?: string
  /** An ETag, and the version that it was seen at: `resource@version`. */
  readonly ifMatch?: { readonly etag: string; readonly version: string }
  /** The body breaks its schema. */
  readonly malformed?: true
}

export type Outcome = {
  readonly status: number
  readonly error: ErrorCode | undefined
  readonly payload: unknown
  readonly etag: string | undefined
  readonly total: string | undefined
}

export const emptyModel = (): Model => ({ accounts: new Map(), keys: new Map(), etags: new Map(), clock: 0 })

/** Input of an operation's rule: the account and the resource that the call names, if they exist. */
export type Place = { model: Model; call: Call; account: Account; connection: Connection; added: Added }

/** One operation in the model. */
export type Rule = {
  /** Resource that the call must name to be processed further. */
  readonly needs?: 'account' | 'connection'
  /** Every reason to refuse the call. The service can return any of them. */
  refusals(place: Place): ErrorCode[]
  /** The version that If-Match is held against: `resource@version`. */
  version?(place: Place): string
  /** Does it, given the answer, and returns what the answer should have been. */
  answer(
    place: Place,
    payload: unknown,
  ): { is: unknown; shouldBe: unknown; etagOf?: [resource: string, version: number]; total?: number }
}

/** A configuration of an added connector. Without an identifier, the first one. */
export const configurationOf = (added: Added | undefined, id: unknown): Configuration | undefined =>
  id === undefined || (id !== '' && id === added?.configurationId) ? added : added?.others.get(String(id))

export const restoreWindowDays = 30
const keyWindowHours = 24
export const isLive = ({ status }: Connection) => status !== 'deleted'
/** A connection whose window has closed is not found, whether it is purged yet or not. */
export const isGone = ({ deletedDays = 0 }: Connection) => deletedDays > restoreWindowDays
export const keyOf = (org: number, key: string) => `${org} ${key}`

/** Whether a call can have this outcome. If it can, the model is updated. Otherwise returns the problem. */
export function explain(
  rules: Readonly<Partial<Record<OperationId, Rule>>>,
  model: Model,
  call: Call,
  outcome: Outcome,
): string | undefined {
  const rule = rules[call.operation]
  if (!rule) throw new Error(`The model knows nothing of ${call.operation}`)
  const request = JSON.stringify([call.operation, call.id, call.accountId, call.body])
  const first = call.key === undefined ? undefined : model.keys.get(keyOf(call.org, call.key))
  if (first && first.hours < keyWindowHours) {
    const isAccountThere = !rule.needs || accountOf(model, call.org, call.accountId)
    const answered = first.request === request ? 'the first answer' : 'idempotency_key_reused'
    const expected = isAccountThere ? answered : 'not_found'
    if (expected === 'the first answer' && outcome.error === undefined) {
      return isDeepStrictEqual(outcome.payload, first.payload)
        ? undefined
        : `another answer than the first, ${JSON.stringify(first.payload)}`
    }
    const refused = call.malformed ? ['invalid_request', expected] : [expected]
    return outcome.error && refused.includes(outcome.error) ? undefined : `should have been ${refused.join(' or ')}`
  }

  const place = findPlace(rule, model, call)
  const codes: ErrorCode[] = call.malformed ? ['invalid_request'] : []
  if (!place) codes.push('not_found')
  else {
    codes.push(...rule.refusals(place))
    if (call.ifMatch && rule.version && rule.version(place) !== call.ifMatch.version) codes.push('precondition_failed')
  }
  if (outcome.error !== undefined) {
    return codes.includes(outcome.error) ? undefined : `should have been ${codes.join(' or ') || 'a success'}`
  }
  if (!place || codes.length > 0) return `should have been refused with ${codes.join(' or ')}`
  const { is, shouldBe, etagOf, total } = rule.answer(place, outcome.payload)
  if (!isDeepStrictEqual(is, shouldBe)) return `should have been ${JSON.stringify(shouldBe)}, is ${JSON.stringify(is)}`
  if (total !== undefined && String(total) !== outcome.total)
    return `a total of ${outcome.total} should have been ${total}`
  if (call.key !== undefined) {
    model.keys.set(keyOf(call.org, call.key), {
      org: call.org,
      key: call.key,
      request,
      payload: outcome.payload,
      hours: 0,
    })
  }
  return etagOf && outcome.etag !== undefined ? checkEtag(model, ...etagOf, outcome.etag) : undefined
}

function findPlace(rule: Rule, model: Model, call: Call): Place | undefined {
  const none = {} as Account & Connection & Added
  if (!rule.needs) return { model, call, account: none, connection: none, added: none }
  const account = accountOf(model, call.org, call.accountId)
  if (!account) return undefined
  const added = account.added.get(call.id ?? '') ?? none
  if (rule.needs === 'account') return { model, call, account, connection: none, added }
  const connection = account.connections.get(call.id ?? '')
  return connection && !isGone(connection) ? { model, call, account, connection, added } : undefined
}

/** The account under an identifier, as its own organization sees it while it is not deleted. */
export function accountOf(model: Model, org: number, id: string | undefined): Account | undefined {
  const account = model.accounts.get(id ?? '')
  return account?.org === org && account.deletedDays === undefined ? account : undefined
}

/** The same version has the same ETag, another version has another. */
function checkEtag(model: Model, resource: string, version: number, etag: string): string | undefined {
  const place = `${resource}@${version}`
  const seen = model.etags.get(place)
  if (seen !== undefined) return seen === etag ? undefined : `${place} had the ETag ${seen}, now ${etag}`
  for (const [other, known] of model.etags) {
    if (known === etag && other.startsWith(`${resource}@`)) return `${place} has the ETag of ${other}, ${etag}`
  }
  model.etags.set(place, etag)
  return undefined
}

/** Removes permanently what was deleted more than 30 days ago, and keys after 24 hours. */
export function purgeModel(model: Model): void {
  for (const account of model.accounts.values()) {
    for (const [id, { deletedDays = 0 }] of account.connections) {
      if (deletedDays > restoreWindowDays) account.connections.delete(id)
    }
  }
  for (const [id, { deletedDays = 0 }] of model.accounts) if (deletedDays > restoreWindowDays) model.accounts.delete(id)
  for (const [key, { hours }] of model.keys) if (hours > keyWindowHours) model.keys.delete(key)
}

/** An operator restores an account. False if no such account was deleted within 30 days. */
export function restoreAccountInModel(model: Model, id: string): boolean {
  const account = model.accounts.get(id)
  if (account?.deletedDays === undefined || account.deletedDays > restoreWindowDays) return false
  account.deletedDays = undefined
  account.version++
  for (const connection of account.connections.values()) {
    connection.version++
    if (!connection.withAccount) continue
    Object.assign(connection, { status: 'disabled', deletedDays: undefined, withAccount: false })
  }
  return true
}
