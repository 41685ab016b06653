import { type Tokens, tokenRefusal, tokensOf } from './oauth-tokens.ts'
import { type Asked, keepFirst, startRoutes } from './platform-routes.ts'
import type { PlatformServer, Reply } from './platform-server.ts'

/**
 * Snapchat's accounts and its Conversions API, as strict as they are known to be: access tokens from a refresh token, the
 * token in the address, the keys of the Business SDK and of the reference, digests, the age of events. A request is refused
 * as a whole for its first bad event, and the others of it count nevertheless, which is the worst that could be.
 */

export type SnapchatServer = PlatformServer & {
  /** The stored events, by name and ID: the first of each. */
  readonly events: Map<string, Record<string, unknown>>
  readonly tokens: Tokens
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

/** The token endpoint of Snapchat. */
export const snapchatTokens = (): Tokens =>
  tokensOf({
    path: '/login/oauth2/access_token',
    secrets: snapchatSecrets,
    prefix: 'snap-access-token-of-many-',
    expiresIn: 3600,
    more: () => ({ refresh_token: snapchatSecrets.refreshToken, scope: 'snapchat-marketing-api' }),
    refuses: { grant: tokenRefusal('invalid_request') },
  })

export async function startSnapchat(): Promise<SnapchatServer> {
  const events: SnapchatServer['events'] = new Map()
  const tokens = snapchatTokens()
  const missing = { status: 404, text: 'not found' }
  const kindOf = ({ path }: { path: string }) =>
    Object.entries(snapchatSettings).find(([, id]) => path.split('/')[2] === id)?.[0]
  return startRoutes(
    {
      open: { 'GET /': missing, ...tokens.routes },
      demands: [
        ({ path }) => (/^\/v3\/[^/]+\/events(\/|$)/.test(path) ? undefined : missing),
        ({ query }) =>
          tokens.good !== '' && query.get('access_token') === tokens.good && query.size === 1
            ? undefined
            : invalid(401),
        (asked) => (kindOf(asked) ? undefined : invalid(403)),
      ],
      routes: {
        'GET /v3/{asset}/events/validate/stats': { json: { status: 'VALID', stats: {} } },
        'POST /v3/{asset}/events': (asked) => take(asked, kindOf(asked) === 'snapAppId', events),
      },
      unknown: { status: 405, text: '' },
    },
    { events, tokens },
  )
}

const invalid = (status: number, more: Record<string, unknown> = {}): Reply => ({
  status,
  json: { status: 'INVALID', reason: 'may quote jane@example.com', ...more },
})

function take({ headers, body }: Asked, ofApp: boolean, events: SnapchatServer['events']): Reply {
  if (headers['content-type'] !== 'application/json') return { status: 405, text: '' }
  const { data, ...rest } = body
  if (Object.keys(rest).length > 0 || !Array.isArray(data) || data.length === 0 || data.length > 2000)
    return invalid(400)
  let first: [event: number, codes: string[]] | undefined
  for (const [at, event] of data.entries()) {
    const codes = codesOf(event, ofApp)
    if (codes.length > 0) first ??= [at, codes]
    else keepFirst(events, `${event.event_name}\n${event.event_id}`, event)
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
