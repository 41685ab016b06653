import { type PlatformServer, type Received, type Reply, startPlatform } from './platform-server.ts'

/**
 * Snapchat's accounts and its Conversions API, as strict as they are known to be: access tokens from a refresh token, the
 * token in the address, the keys of the Business SDK and of the reference, digests, the age of events. A request is refused
 * as a whole for its first bad event, and the others of it count nevertheless, which is the worst that could be.
 */

export type SnapchatServer = PlatformServer & {
  /** The stored events, by name and ID: the first of each. */
  readonly events: Map<string, Record<string, unknown>>
  /** Access tokens that are accepted; the last is the one that was given out last. */
  readonly accessTokens: string[]
}

export const snapchatSecrets = {
  clientId: 'snap-client',
  clientSecret: 'snap-client-secret',
  refreshToken: 'snap-refresh',
}
export const snapchatSettings = { pixelId: '5bf81ee1-15b1-4dc1-b636-000000000001', snapAppId: 'snap-app-id' }
export const snapchatOrigins = [
  'https://accounts.snapchat.com',
  'https://tr.snapchat.com',
  'https://adsapi.snapchat.com',
]
export const snapchatRoutes = (url: string): Record<string, string> =>
  Object.fromEntries(snapchatOrigins.map((origin) => [origin, url]))

/** Makes access tokens from the refresh token; answers nothing for other paths. */
export function makeAccounts(): { accessTokens: string[]; answer(received: Received): Reply | undefined } {
  const accessTokens: string[] = []
  return {
    accessTokens,
    answer({ method, path, headers, text }) {
      if (path !== '/login/oauth2/access_token') return undefined
      if (method !== 'POST' || !/^application\/x-www-form-urlencoded\b/.test(headers['content-type'] ?? ''))
        return { status: 405 }
      const {
        grant_type: grant,
        client_id: id,
        client_secret: secret,
        refresh_token: refresh,
        ...rest
      } = Object.fromEntries(new URLSearchParams(text))
      if (Object.keys(rest).length > 0 || grant !== 'refresh_token') return denied('invalid_request')
      if (id !== snapchatSecrets.clientId || secret !== snapchatSecrets.clientSecret)
        return denied('invalid_client', 401)
      if (refresh !== snapchatSecrets.refreshToken) return denied('invalid_grant')
      const token = `snap-access-token-${accessTokens.length + 1}-of-many`
      accessTokens.push(token)
      return {
        json: {
          access_token: token,
          token_type: 'Bearer',
          expires_in: 3600,
          refresh_token: refresh,
          scope: 'snapchat-marketing-api',
        },
      }
    },
  }
}

const denied = (error: string, status = 400): Reply => ({
  status,
  json: { error, error_description: 'quotes snap-refresh' },
})

export async function startSnapchat(): Promise<SnapchatServer> {
  const events: SnapchatServer['events'] = new Map()
  const accounts = makeAccounts()
  const server = await startPlatform(
    (received) => accounts.answer(received) ?? answer(received, accounts.accessTokens, events),
  )
  return Object.assign(server, { events, accessTokens: accounts.accessTokens })
}

const invalid = (status: number, more: Record<string, unknown> = {}): Reply => ({
  status,
  json: { status: 'INVALID', reason: 'may quote jane@example.com', ...more },
})

function answer(
  { method, path, query, headers, json }: Received,
  accessTokens: readonly string[],
  events: SnapchatServer['events'],
): Reply {
  if (path === '/') return { status: 404, text: 'not found' }
  const [, asset = '', stats] = /^\/v3\/([^/]+)\/events(\/validate\/stats)?$/.exec(path) ?? []
  if (!asset) return { status: 404, text: 'not found' }
  const token = query.get('access_token') ?? ''
  if (token !== accessTokens.at(-1) || [...query.keys()].length !== 1) return invalid(401)
  const kind = Object.entries(snapchatSettings).find(([, id]) => id === asset)?.[0]
  if (!kind) return invalid(403)
  if (`${method}${stats ?? ''}` === 'GET/validate/stats') return { json: { status: 'VALID', stats: {} } }
  if (method !== 'POST' || stats || headers['content-type'] !== 'application/json') return { status: 405, text: '' }
  const { data, ...rest } = json as Record<string, unknown>
  if (Object.keys(rest).length > 0 || !Array.isArray(data) || data.length === 0 || data.length > 2000)
    return invalid(400)
  let first: [event: number, codes: string[]] | undefined
  for (const [at, event] of data.entries()) {
    const codes = codesOf(event, kind === 'snapAppId')
    const key = `${event.event_name}\n${event.event_id}`
    if (codes.length > 0) first ??= [at, codes]
    else if (!events.has(key)) events.set(key, event)
  }
  if (!first) return { json: { status: 'VALID', reason: 'Events have been processed successfully.' } }
  const [event, codes] = first
  return invalid(400, { event, errors: { codes, error_msgs: ['quotes jane@example.com'] } })
}

const keys = {
  event: `event_name event_time event_id event_source_url action_source user_data custom_data app_data integration
    data_processing_options data_processing_options_country data_processing_options_state test_event_code opt_out`,
  user: `em ph fn ln ge ct st zp country external_id madid client_ip_address client_user_agent sc_click_id sc_cookie1 idfv
    lead_id subscription_id anon_id partner_id`,
  custom: `value currency order_id content_ids contents content_category search_string sign_up_method num_items brands`,
  app: 'app_id advertiser_tracking_enabled application_tracking_enabled extinfo',
}
const strangers = (object: Record<string, unknown>, kind: keyof typeof keys): boolean =>
  Object.entries(object).some(
    ([key, value]) => !keys[kind].split(/\s+/).includes(key) || value === null || value === '',
  )

const hashedKeys = ['em', 'ph', 'fn', 'ln', 'ge', 'ct', 'st', 'zp', 'country', 'external_id']

function codesOf(event: Record<string, unknown>, ofApp: boolean): string[] {
  const { event_name: name, event_time: time, action_source: source, event_id: id } = event
  const user = (event.user_data ?? {}) as Record<string, unknown>
  const custom = (event.custom_data ?? {}) as Record<string, unknown>
  const app = event.app_data as Record<string, unknown> | undefined
  const now = Date.now() / 1000
  const wrong: [string, boolean][] = [
    ['E_UNKNOWN_KEY', strangers(event, 'event') || strangers(user, 'user') || strangers(custom, 'custom')],
    ['E_EVENT_NAME', typeof name !== 'string' || !/^[A-Z][A-Z_0-9]+$/.test(name) || typeof id !== 'string'],
    ['E_EVENT_TIME', !Number.isInteger(time) || Number(time) > now + 60 || Number(time) < now - 37 * 86_400],
    ['E_ACTION_SOURCE', ofApp ? source !== 'MOBILE_APP' : source !== 'WEB' && source !== 'OFFLINE'],
    ['E_APP_DATA', ofApp !== (app !== undefined) || (app !== undefined && !isApp(app))],
    [
      'E_UNHASHED',
      hashedKeys.some((key) => [user[key] ?? []].flat().some((value) => !/^[0-9a-f]{64}$/.test(String(value)))),
    ],
    ['E_NO_PERSON', !(user.em || user.ph || user.madid || (user.client_ip_address && user.client_user_agent))],
    ['E_CURRENCY', custom.currency !== undefined && custom.value === undefined],
    [
      'E_PRICE',
      name === 'PURCHASE' && (typeof custom.value !== 'number' || !/^[A-Z]{3}$/.test(String(custom.currency))),
    ],
  ]
  return wrong.flatMap(([code, applies]) => (applies ? [code] : []))
}

const isApp = (app: Record<string, unknown>): boolean =>
  !strangers(app, 'app') &&
  (app.advertiser_tracking_enabled === 0 || app.advertiser_tracking_enabled === 1) &&
  Array.isArray(app.extinfo) &&
  app.extinfo.length === 16 &&
  /^[ai]2$/.test(String(app.extinfo[0]))
