import { ConnectorError } from '../connector-error.ts'
import type { Egress, EgressRequest } from '../context.ts'
import type { NetworkPolicy } from './addresses.ts'
import { Agents } from './agents.ts'
import { type AllowedDestination, makeMatches } from './allowed.ts'
import { type EgressBounds, egressBounds } from './bounds.ts'
import { type Dial, dialWith, directDial } from './dial.ts'
import { exchange, headersOf } from './exchange.ts'
import { type AddressRules, bare, makeAddressRules } from './look-up.ts'
import { proxyRelay } from './proxy.ts'
import type { OutgoingProxy } from './proxy-address.ts'
import { type OpenRelay, relayedDial } from './relay.ts'

export type EgressOptions = {
  /** `any`: all except link-local and metadata addresses. `public`: only public addresses. */
  readonly networkPolicy: NetworkPolicy
  /** Private destinations that are allowed although `networkPolicy` is `public`. */
  readonly allow?: readonly AllowedDestination[]
  /** All connections lead through this proxy. It gets addresses that were checked. Its own address is not checked. */
  readonly proxy?: OutgoingProxy | undefined
  /** Destinations that are reached without the proxy. */
  readonly except?: readonly AllowedDestination[]
  /**
   * Origins that are reached at another address, for tests and for operators with a gateway: `{ 'https://graph.facebook.com':
   * 'http://127.0.0.1:8080' }`. The request does not change, including `host`. The address rules do not apply to these targets,
   * because users cannot set them.
   */
  readonly routes?: Readonly<Record<string, string>>
  /** Other limits, for tests. */
  readonly bounds?: Partial<EgressBounds>
  /** The clock to measure slow answers, in milliseconds, for tests. */
  readonly now?: () => number
}

/** An egress that keeps connections open for the next request, and releases them when it is closed. */
export type OpenEgress = Egress & {
  /** Connects to a host, as `connect` does. */
  readonly dial: Dial
  /** An egress through another machine. Its connections are released with this egress. */
  through(open: OpenRelay): Egress
  /** An allowed address of a host. Throws a `ConnectorError`. */
  resolve(host: string, port?: number): Promise<string>
  close(): Promise<void>
}

const defaultTimeoutMs = 60_000

/** Headers that a redirect can carry to another origin. Any other header could contain a secret. */
const harmlessHeaders =
  /^(accept|accept-encoding|accept-language|content-type|range|user-agent|if-(match|none-match|modified-since|unmodified-since|range))$/

/** Creates the only access to the network that connectors have. */
export function createEgress(options: EgressOptions): OpenEgress {
  const { networkPolicy, allow = [], routes = {}, now = () => performance.now() } = options
  const bounds = { ...egressBounds, ...options.bounds }
  const rules = makeAddressRules(networkPolicy, allow, bounds.lookUpMs)
  const kept: Agents[] = []
  const keep = (agents: Agents): Agents => {
    kept.push(agents)
    return agents
  }
  const routed = keep(new Agents())
  const checked = keep(new Agents({ lookup: rules.lookUp() }))
  /** A lookup does not get the port, so each port with its own rules has its own agents. */
  const checkedByPort = new Map<number, Agents>()
  for (const { port } of allow) {
    if (port !== undefined) checkedByPort.set(port, keep(new Agents({ lookup: rules.lookUp(port) })))
  }
  const targets = new Map(Object.entries(routes).map(([from, to]) => [new URL(from).origin, new URL(to)]))
  const dial = dialOf(rules, options)
  const proxied = options.proxy && keep(new Agents({ dial }))
  const direct = (url: URL): Agents => {
    if (proxied) return proxied
    const port = portOf(url)
    rules.assertAllowedHost(url.hostname, port)
    return checkedByPort.get(port) ?? checked
  }

  /** @param agentsFor checks the host of a request, and returns the agents that connect to it */
  const requests =
    (agentsFor: (url: URL) => Agents): Egress['request'] =>
    async (address, init = {}) => {
      const send = async (url: URL, asked: EgressRequest): Promise<Response> => {
        const route = targets.get(url.origin)
        const target = route ? new URL(url.pathname + url.search, route) : url
        const agents = route ? routed : agentsFor(url)
        return exchange({ url, target, agents, init: asked, timeoutMs, bounds, now })
      }
      let url = parse(address)
      let asked = init
      const { timeoutMs = defaultTimeoutMs } = init
      const redirectsMax = Math.min(init.redirectsMax ?? 0, bounds.redirects)
      for (let redirects = 0; ; redirects++) {
        const response = await send(url, asked)
        const next = redirectsMax > 0 ? await redirectOf(response, url) : undefined
        if (!next) return response
        // A stream is used up, and cannot be sent again.
        const keeps = keepsMethod(response.status, asked.method)
        if (keeps && asked.body instanceof ReadableStream) return response
        await response.body?.cancel()
        if (redirects === redirectsMax) throw tooManyRedirects(url, redirectsMax)
        asked = requestAfter(asked, keeps, next.origin === url.origin)
        url = next
      }
    }
  const connects =
    (dial: Dial): Egress['connect'] =>
    async (host, port, init) =>
      (await dial(host, port, init)).stream
  const through = (open: OpenRelay): Egress => {
    const dial = relayedDial(rules, open)
    const agents = keep(new Agents({ dial }))
    return { request: requests(() => agents), connect: connects(dial) }
  }

  return {
    request: requests(direct),
    connect: connects(dial),
    dial,
    through,
    resolve: rules.resolve,
    async close() {
      for (const agents of kept) agents.close()
    },
  }
}

/** Connects directly, or through the proxy. */
function dialOf(rules: AddressRules, { proxy, except = [] }: EgressOptions): Dial {
  const direct = directDial(rules)
  if (!proxy) return direct
  const behind = relayedDial(
    rules,
    proxyRelay(proxy, (host, port, options) => dialWith(host, port, options)),
  )
  const isExcept = makeMatches(except)
  return async (host, port, options) => {
    const isDirect = except.length > 0 && isExcept(await rules.resolve(host, port), bare(host), port)
    return await (isDirect ? direct : behind)(host, port, options)
  }
}

const portOf = ({ port, protocol }: URL): number => Number(port) || (protocol === 'https:' ? 443 : 80)

/** Reads an address. Its errors do not name the address, because its query may contain a secret. */
function parse(address: string | URL): URL {
  const url = URL.canParse(String(address)) ? new URL(String(address)) : undefined
  if (!url)
    throw new ConnectorError(
      'invalid_address',
      'The address is not a URL. It should look like https://example.com/path.',
    )
  assertScheme(url)
  return url
}

function assertScheme(url: URL): void {
  if (url.protocol !== 'https:' && url.protocol !== 'http:') {
    throw new ConnectorError('invalid_address', 'The address must begin with https:// or http://.')
  }
  if (url.username || url.password) {
    const message = 'The address contains a user name or password. Remove it, and use the fields for credentials.'
    throw new ConnectorError('invalid_address', message)
  }
}

/** The target of a redirect; `undefined` if the answer is not a redirect. */
async function redirectOf(response: Response, from: URL): Promise<URL | undefined> {
  try {
    return nextOf(response, from)
  } catch (error) {
    await response.body?.cancel()
    throw error
  }
}

function nextOf(response: Response, from: URL): URL | undefined {
  const location = response.headers.get('location')
  if (![301, 302, 303, 307, 308].includes(response.status) || location === null) return undefined
  const url = URL.canParse(location, from.href) ? new URL(location, from) : undefined
  if (!url) throw new ConnectorError('unexpected_response', `${from.host} redirects to an invalid address.`)
  assertScheme(url)
  if (from.protocol === 'https:' && url.protocol === 'http:') {
    const message = `${from.host} redirects from https to http, where anyone on the network path could read the request.`
    throw new ConnectorError('insecure_address', message)
  }
  return url
}

/** As in browsers: 303, and 301 and 302 after a POST, lead to a GET. */
const keepsMethod = (status: number, method = 'GET'): boolean =>
  method === 'HEAD' || (status === 303 ? method === 'GET' : !((status === 301 || status === 302) && method === 'POST'))

function requestAfter(init: EgressRequest, keepsMethod: boolean, sameOrigin: boolean): EgressRequest {
  const { method, body, ...rest } = init
  const headers = Object.entries(headersOf(init)).filter(
    ([name]) => (sameOrigin || harmlessHeaders.test(name)) && (keepsMethod || !name.startsWith('content-')),
  )
  return {
    ...rest,
    headers: Object.fromEntries(headers),
    ...(keepsMethod ? { ...(method === undefined ? {} : { method }), ...(body === undefined ? {} : { body }) } : {}),
  }
}

const tooManyRedirects = (url: URL, redirectsMax: number): ConnectorError =>
  new ConnectorError('unexpected_response', `${url.host} redirects more than ${redirectsMax} times. Check the address.`)
