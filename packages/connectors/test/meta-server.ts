import assert from 'node:assert/strict'
import { createHmac } from 'node:crypto'
import { type PlatformServer, type Received, type Reply, startPlatform } from './platform-server.ts'

/**
 * The part of Meta's Graph API that customer lists and events use, as strict as it is known to be: the token in a header
 * with the proof of the app's secret, numbers of rows and events, digests, schemas, sessions, the age of events.
 */

type Audience = {
  id: string
  account: string
  name: string
  members: Set<string>
  byValue?: boolean
  deleted?: boolean
  flagged?: boolean
}
type Session = { id: number; audience: string; batches: Map<number, string[]>; received: number; ended: boolean }
export type MetaEvent = { event_name: string; event_time: number; event_id: string } & Record<string, unknown>

export type MetaServer = PlatformServer & {
  readonly audiences: Audience[]
  readonly sessions: Session[]
  /** The events of a dataset, by event ID and name. Meta keeps the first of each. */
  readonly events: Map<string, MetaEvent>
  /** The permissions of the token. */
  readonly permissions: string[]
  /** The response to every request that changes members or sends events; absent for Meta's own response. */
  refusing: { reply?: Reply }
}

const token = 'EAAB-token'
export const metaSecrets = { authType: 'oauth2', clientId: '77', clientSecret: 'app-secret', accessToken: token }
export const datasetId = '5550001'
const account = 'act_900'
const hashed = new Set([
  'EMAIL',
  'PHONE',
  'FN',
  'LN',
  'ZIP',
  'COUNTRY',
  'DOBM',
  'DOBD',
  'DOBY',
  'GEN',
  'CT',
  'ST',
  'FI',
])
const plain = new Set(['MADID', 'EXTERN_ID', 'PAGEUID', 'LOOKALIKE_VALUE', 'DATA_PROCESSING_OPTIONS'])

export async function startMeta(): Promise<MetaServer> {
  const audiences: Audience[] = []
  const sessions: Session[] = []
  const events = new Map<string, MetaEvent>()
  const permissions = ['ads_management']
  const refusing: MetaServer['refusing'] = {}
  const server = await startPlatform((received) => {
    const denied = deny(received)
    if (denied) return denied
    const path = received.path.replace(/^\/v\d+\.\d+\//, '')
    if (path === received.path) return { status: 400, json: {} }
    if (refusing.reply && /\/(users|usersreplace|events)$/.test(path)) return refusing.reply
    switch (`${received.method} ${path.replace(/^\d+/, '{id}')}`) {
      case 'GET me':
        return { json: { id: '1' } }
      case 'GET me/permissions':
        return { json: { data: permissions.map((permission) => ({ permission, status: 'granted' })) } }
      case 'GET me/adaccounts':
        return listAccounts(received.query)
      case `GET ${account}`:
        return { json: { id: account } }
      case `GET ${account}/customaudiences`:
        return list(audiences, received.query)
      case `POST ${account}/customaudiences`:
        return make(audiences, received.json)
      case 'GET {id}':
        return path === datasetId ? { json: { id: path } } : readAudience(audiences, path)
      case 'POST {id}/events':
        return path === `${datasetId}/events` ? takeEvents(events, received.json) : missing
    }
    const [id, edge] = path.split('/')
    const audience = audiences.find((one) => one.id === id && !one.deleted)
    if (!audience) return missing
    if (edge === 'sessions') return listSessions(sessions, audience.id, received.query)
    if (audience.flagged) return problem(471)
    if (edge === 'users' && received.method !== 'GET') return change(audience, received)
    if (edge === 'usersreplace' && received.method === 'POST') return replace(audience, sessions, received.json)
    return missing
  })
  return Object.assign(server, {
    audiences,
    sessions,
    events,
    permissions,
    refusing,
  })
}

export const problem = (code: number, more: Record<string, unknown> = {}, status = 400): Reply => ({
  status,
  json: {
    error: { message: `(#${code}) quotes jane@example.com`, type: 'OAuthException', code, fbtrace_id: 'A', ...more },
  },
})
const missing = problem(100, { error_subcode: 33 })

function deny({ path, headers, query }: Received): Reply | undefined {
  if (path === '/') return { status: 302, headers: { location: 'https://www.facebook.com/' } }
  if (query.has('access_token'))
    return { status: 400, json: { error: { code: 2500, message: 'token in the address' } } }
  if (headers.authorization !== `Bearer ${token}`) return problem(190, { error_subcode: 463 }, 401)
  const proof = createHmac('sha256', metaSecrets.clientSecret).update(token).digest('hex')
  if (query.get('appsecret_proof') !== proof) return problem(100, { message: 'Invalid appsecret_proof' })
  return undefined
}

/** The ad accounts of the user: three, each with its pixels, of which two have one in common. */
export function listAccounts(query: URLSearchParams): Reply {
  const accounts = [900, 901, 902].map((number) => ({
    id: `act_${number}`,
    account_id: String(number),
    name: `Account ${number}`,
    adspixels: { data: [`${number}1`, '77'].map((id) => ({ id, name: `Pixel ${id}` })), paging: { cursors: {} } },
  }))
  const asked = (query.get('fields') ?? 'id').split(/,(?![^{]*\})/).map((field) => /^\w+/.exec(field)?.[0] ?? '')
  if (asked.some((field) => !(field in (accounts[0] ?? {})))) return problem(100)
  const from = Number(query.get('after') ?? 0)
  const until = from + Math.min(2, Number(query.get('limit')))
  const data = accounts
    .slice(from, until)
    .map((one) => Object.fromEntries(Object.entries(one).filter(([key]) => key === 'id' || asked.includes(key))))
  const next = until < accounts.length ? { next: 'https://graph.facebook.com/next?access_token=leak' } : {}
  return { json: { data, paging: { cursors: { after: String(until) }, ...next } } }
}

function list(audiences: readonly Audience[], query: URLSearchParams): Reply {
  // Pages of two, so that a search for a name needs several of them.
  const from = Number(query.get('after') ?? 0)
  const there = audiences.filter(({ deleted }) => !deleted)
  const data = there.slice(from, from + 2).map(({ id, name }) => ({ id, name, subtype: 'CUSTOM' }))
  const next = from + 2 < there.length ? { next: 'https://graph.facebook.com/next?access_token=leak' } : {}
  return { json: { data, paging: { cursors: { before: String(from), after: String(from + 2) }, ...next } } }
}

function make(audiences: Audience[], json: unknown): Reply {
  const { name, subtype, customer_file_source, is_value_based: byValue = false } = json as Record<string, unknown>
  if (typeof byValue !== 'boolean') return problem(100)
  if (typeof name !== 'string' || !name || subtype !== 'CUSTOM') return problem(100)
  if (customer_file_source !== 'USER_PROVIDED_ONLY') return problem(100)
  const id = `1200000000000000${String(audiences.length + 1).padStart(2, '0')}`
  audiences.push({ id, account, name, members: new Set(), byValue })
  return { json: { id } }
}

function readAudience(audiences: readonly Audience[], path: string): Reply {
  const audience = audiences.find(({ id, deleted }) => id === path && !deleted)
  if (!audience) return missing
  return { json: { id: audience.id, operation_status: { code: audience.flagged ? 471 : 200, description: '' } } }
}

const isCell = (cell: unknown, isValue: boolean) =>
  typeof cell === 'string' ? !isValue || cell === '' : isValue && typeof cell === 'number' && cell >= 0

const isOptions = (cell: unknown) => Array.isArray(cell) && cell.every((option) => option === 'LDU')

/** The people of a payload, or what is wrong with it. Like Meta, it counts what it cannot use and takes the rest. */
function peopleOf(json: unknown): { people: string[]; received: number; invalid: number } | Reply {
  const payload = (json as { payload?: Record<string, unknown> } | undefined)?.payload
  const { schema, data, page_ids: pages, ...others } = payload ?? {}
  if (Object.keys(others).length > 0) return problem(100)
  if (!Array.isArray(schema) || !Array.isArray(data) || data.length === 0 || data.length > 10_000) return problem(100)
  if (new Set(schema).size !== schema.length || !schema.every((key) => hashed.has(key) || plain.has(key)))
    return problem(100)
  if (schema.includes('PAGEUID') !== (Array.isArray(pages) && pages.every((page) => /^\d+$/.test(page))))
    return problem(100)
  const valueAt = schema.indexOf('LOOKALIKE_VALUE')
  const optionsAt = schema.indexOf('DATA_PROCESSING_OPTIONS')
  const people: string[] = []
  for (const row of data) {
    if (!Array.isArray(row) || row.length !== schema.length) return problem(100)
    const isRight = (cell: unknown, at: number) => (at === optionsAt ? isOptions(cell) : isCell(cell, at === valueAt))
    if (!row.every(isRight)) return problem(100)
    // Options are no part of who a member is.
    if (optionsAt >= 0) row[optionsAt] = ''
    const usable = row.every((cell, at) => cell === '' || !hashed.has(schema[at]) || /^[0-9a-f]{64}$/.test(cell))
    const madid = row[schema.indexOf('MADID')] ?? ''
    if (usable && row.some(Boolean) && (madid === '' || /^[0-9a-f-]{36}$/.test(madid))) {
      people.push(
        schema
          .map((key, at) => `${key}:${row[at]}`)
          .filter((entry) => !entry.endsWith(':'))
          .sort()
          .join(' '),
      )
    }
  }
  return { people, received: data.length, invalid: data.length - people.length }
}

function change(audience: Audience, { method, json }: Received): Reply {
  const payload = peopleOf(json)
  if (!('people' in payload)) return payload
  for (const person of payload.people) {
    if (method === 'POST') audience.members.add(person)
    else audience.members.delete(person)
  }
  return { json: summary(audience.id, '0', payload) }
}

function replace(audience: Audience, sessions: Session[], json: unknown): Reply {
  const payload = peopleOf(json)
  if (!('people' in payload)) return payload
  const { session_id, batch_seq, last_batch_flag } = (json as { session?: Record<string, unknown> }).session ?? {}
  if (!Number.isSafeInteger(session_id) || Number(session_id) < 1 || typeof last_batch_flag !== 'boolean')
    return problem(100)
  if (!Number.isInteger(batch_seq) || Number(batch_seq) < 1) return problem(100)
  let session = sessions.find(({ id, audience: of, ended }) => id === session_id && of === audience.id && !ended)
  if (!session) {
    session = { id: Number(session_id), audience: audience.id, batches: new Map(), received: 0, ended: false }
    sessions.push(session)
  }
  session.batches.set(Number(batch_seq), payload.people)
  session.received += payload.received
  if (last_batch_flag) {
    session.ended = true
    audience.members = new Set([...session.batches.values()].flat())
  }
  return { json: summary(audience.id, String(session_id), payload) }
}

const summary = (audience: string, session: string, { received, invalid }: { received: number; invalid: number }) => ({
  audience_id: audience,
  session_id: session,
  num_received: received,
  num_invalid_entries: invalid,
  invalid_entry_samples: invalid ? { '0': 'a value of a row' } : {},
})

function listSessions(sessions: readonly Session[], audience: string, query: URLSearchParams): Reply {
  const data = sessions
    .filter((session) => session.audience === audience && String(session.id) === query.get('session_id'))
    .map(({ id, ended, received }) => ({
      session_id: String(id),
      num_received: String(received),
      ...(ended ? { stage: 'post processing', end_time: '1' } : { stage: 'uploading' }),
    }))
  return { json: { data } }
}

const digests = ['em', 'ph', 'ge', 'db', 'ln', 'fn', 'ct', 'st', 'zp', 'country']
const sources = `website app physical_store phone_call chat email system_generated business_messaging other`.split(' ')
const knownKeys = {
  request: new Set('data partner_agent test_event_code'.split(' ')),
  event: new Set(
    `event_name event_time event_id action_source event_source_url referrer_url messaging_channel opt_out user_data
    custom_data app_data data_processing_options data_processing_options_country data_processing_options_state`.split(
      /\s+/,
    ),
  ),
  user: new Set(
    `em ph ge db ln fn ct st zp country external_id client_ip_address client_user_agent fbc fbp madid anon_id lead_id
    subscription_id fb_login_id ctwa_clid page_id page_scoped_user_id ig_account_id ig_sid partner_id`.split(/\s+/),
  ),
}
const knowsAll = (known: ReadonlySet<string>, object: object) => Object.keys(object).every((key) => known.has(key))

/** Whether the fields about an app and about limited data use have the form that Meta requires. */
function isWellFormed(event: Record<string, unknown>): boolean {
  if (!knowsAll(knownKeys.event, event)) return false
  if ('opt_out' in event && typeof event.opt_out !== 'boolean') return false
  if ('data_processing_options' in event) {
    const { data_processing_options: options, data_processing_options_country: country } = event
    if (JSON.stringify(options) !== '["LDU"]' || ![0, 1].includes(Number(country))) return false
    if (![0, 1000].includes(Number(event.data_processing_options_state))) return false
  }
  const app = event.app_data as Record<string, unknown> | undefined
  if (app === undefined) return event.action_source !== 'app'
  const flags = [app.advertiser_tracking_enabled, app.application_tracking_enabled]
  const { extinfo } = app
  return (
    flags.every((flag) => flag === 0 || flag === 1) &&
    Array.isArray(extinfo) &&
    extinfo.length === 16 &&
    ['a2', 'i2'].includes(extinfo[0])
  )
}

/** One bad event, and Meta takes none of the request. */
function takeEvents(events: Map<string, MetaEvent>, json: unknown): Reply {
  const { data, test_event_code: code } = json as { data?: unknown; test_event_code?: unknown }
  if (!knowsAll(knownKeys.request, json as object) || (code !== undefined && typeof code !== 'string'))
    return problem(100)
  if (!Array.isArray(data) || data.length === 0 || data.length > 1000) return problem(100)
  const now = Date.now() / 1000
  for (const event of data) {
    const days = event.action_source === 'physical_store' ? 62 : 7
    const { user_data: user, custom_data: custom } = event
    if (!Number.isInteger(event.event_time) || event.event_time > now + 60)
      return problem(100, { error_subcode: 2804017 })
    if (event.event_time < now - days * 86_400) return problem(100, { error_subcode: 2804003 })
    if (!isWellFormed(event)) return problem(100)
    if (event.event_name === 'Refused') return problem(100, { error_subcode: 2804048 })
    if (!event.event_name || !sources.includes(event.action_source)) return problem(100, { error_subcode: 2804001 })
    if (typeof user !== 'object' || user === null || Object.keys(user).length === 0)
      return problem(100, { error_subcode: 2804007 })
    if (!knowsAll(knownKeys.user, user)) return problem(100)
    for (const key of digests) {
      for (const value of [user[key] ?? []].flat())
        if (!/^[0-9a-f]{64}$/.test(value)) return problem(100, { error_subcode: 2804007 })
    }
    if (event.event_name === 'Purchase' && (typeof custom?.value !== 'number' || !/^[A-Z]{3}$/.test(custom.currency))) {
      return problem(100, { error_subcode: 2804016 })
    }
    assert.equal(typeof event.event_id, 'string')
  }
  for (const event of data) {
    const key = `${event.event_name}\n${event.event_id}`
    if (!events.has(key)) events.set(key, event)
  }
  return { json: { events_received: data.length, messages: [], fbtrace_id: 'A' } }
}
