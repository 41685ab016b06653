import { isIP } from 'node:net'
import { ConnectorError } from '../connector-error.ts'
import type { Egress, EgressRequest } from '../context.ts'
import type { NetworkPolicy } from './addresses.ts'
import { Agents } from './agents.ts'
import type { AllowedDestination } from './allowed.ts'
import { type EgressBounds, egressBounds } from './bounds.ts'
import { connectorErrorOfError } from './errors.ts'
import { exchange, headersOf } from './exchange.ts'
import { bare, type LookUp, makeAddressRules } from './look-up.ts'

export type EgressOptions = {
  /** `any`: all but link-local and metadata addresses. `public`: only what the whole internet reaches. */
  readonly networkPolicy: NetworkPolicy
  /** Private destinations that may be reached although `networkPolicy` is `public`. */
  readonly allow?: readonly AllowedDestination[]
  /**
   * Origins that are reached elsewhere, for tests and for operators whose way out is a gateway:
   * `{ 'https://graph.facebook.com': 'http://127.0.0.1:8080' }`. The request stays as it is, `host` included; of the
   * address rules, these origins, which no user can name a target for, are free.
   */
  readonly routes?: Readonly<Record<string, string>>
  /** Other bounds than the usual, for tests. */
  readonly bounds?: Partial<EgressBounds>
  /** The clock that slow answers are measured with, in milliseconds, for tests. */
  readonly now?: () => number
}

/** A way out that holds connections open for the next request; lets go of them when it is closed. */
export type OpenEgress = Egress & { close(): Promise<void> }

const defaultTimeoutMs = 60_000

/** Headers that a redirect may carry to another origin. Any other header could hold a secret. */
const harmlessHeaders =
  /^(accept|accept-encoding|accept-language|content-type|range|user-agent|if-(match|none-match|modified-since|unmodified-since|range))$/

/** Makes the only way out that connectors have. */
export function createEgress(options: EgressOptions): OpenEgress {
  const { networkPolicy, allow = [], routes = {}, now = () => performance.now() } = options
  const bounds = { ...egressBounds, ...options.bounds }
  const rules = makeAddressRules(networkPolicy, allow)
  const routed = new Agents()
  const checked = new Agents(rules.lookUp())
  /** A lookup does not get the port, so each port that has rules of its own has its own agents. */
  const checkedByPort = new Map<number, Agents>()
  for (const { port } of allow) if (port !== undefined) checkedByPort.set(port, new Agents(rules.lookUp(port)))
  const targets = new Map(Object.entries(routes).map(([from, to]) => [new URL(from).origin, new URL(to)]))

  async function send(url: URL, init: EgressRequest, timeoutMs: number): Promise<Response> {
    const route = targets.get(url.origin)
    if (!route) {
      const port = portOf(url)
      rules.assertAllowedHost(url.hostname, port)
      return exchange({ url, target: url, agents: checkedByPort.get(port) ?? checked, init, timeoutMs, bounds, now })
    }
    const target = new URL(url.pathname + url.search, route)
    return exchange({ url, target, agents: routed, init, timeoutMs, bounds, now })
  }

  return {
    async request(address, init = {}) {
      let url = parse(address)
      let asked = init
      const { timeoutMs = defaultTimeoutMs } = init
      const redirectsMax = Math.min(init.redirectsMax ?? 0, bounds.redirects)
      for (let redirects = 0; ; redirects++) {
        const response = await send(url, asked, timeoutMs)
        const next = redirectsMax > 0 ? await redirectOf(response, url) : undefined
        if (!next) return response
        // A stream is used up, and cannot be sent a second time.
        const keeps = keepsMethod(response.status, asked.method)
        if (keeps && asked.body instanceof ReadableStream) return response
        await response.body?.cancel()
        if (redirects === redirectsMax) throw tooManyRedirects(url, redirectsMax)
        asked = requestAfter(asked, keeps, next.origin === url.origin)
        url = next
      }
    },

    async resolve(host, port) {
      rules.assertAllowedHost(host, port)
      const address = bare(host)
      if (isIP(address)) return address
      return await resolveName(rules.lookUp(port), address, bounds.lookUpMs)
    },

    async close() {
      for (const agents of [checked, routed, ...checkedByPort.values()]) agents.close()
    },
  }
}

const portOf = ({ port, protocol }: URL): number => Number(port) || (protocol === 'https:' ? 443 : 80)

function resolveName(lookUp: LookUp, host: string, lookUpMs: number): Promise<string> {
  return new Promise((resolve, reject) => {
    const message = `The name ${host} was not found within ${lookUpMs / 1000} seconds; check the name servers.`
    const timer = setTimeout(() => reject(new ConnectorError('host_not_found', message)), lookUpMs)
    lookUp(host, {}, (error, address) => {
      clearTimeout(timer)
      if (error) reject(connectorErrorOfError(error, host))
      else resolve(String(address))
    })
  })
}

/** Reads an address. Its errors do not name the address, whose query may hold a secret. */
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
    const message = 'The address contains a user name or password; remove it, and use the fields for credentials.'
    throw new ConnectorError('invalid_address', message)
  }
}

/** Where an answer sends the caller on to; `undefined` if it does not. */
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

/** As browsers do it: 303, and 301 and 302 after a POST, ask for a GET. */
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
  new ConnectorError('unexpected_response', `${url.host} redirects more than ${redirectsMax} times; check the address.`)
