import { ConnectorError, createRedact, type Redact, type Values } from '@penstock/connector'

/** The file that the values mean, and what every request for it carries. */
export type RemoteAddress = {
  readonly url: URL
  readonly headers: Readonly<Record<string, string>>
  /** Removes the credentials from what the server says. */
  readonly redact: Redact
}

/**
 * Reads the address from a connector's values and a connection's path. A path stays on the server of the URL, because the
 * credentials are only for that server.
 */
export function addressOf(secrets: Values, path?: unknown): RemoteAddress {
  const base = parse(String(secrets.url))
  const folder = new URL(base)
  if (!folder.pathname.endsWith('/')) folder.pathname += '/'
  const url = typeof path === 'string' ? parse(path.replace(/^\/+/, './'), folder) : base
  if (url.origin !== base.origin || !url.pathname.startsWith(typeof path === 'string' ? folder.pathname : '')) {
    throw new ConnectorError('invalid_address', 'The path leads out of the folder that the URL of the connector names.')
  }
  if (typeof secrets.secretQuery === 'string') {
    url.search = [url.search.slice(1), secrets.secretQuery.replace(/^\?/, '')].filter((part) => part !== '').join('&')
  }
  const known = [secrets.bearerToken, secrets.password, secrets.secretQuery].filter(
    (value) => typeof value === 'string',
  )
  return { url, headers: authorizationOf(secrets), redact: createRedact(known) }
}

/** The name of a file: the last segment of its path, otherwise its host. Never contains the query. */
export function nameOf({ pathname, host }: URL): string {
  const last = pathname.split('/').findLast((part) => part !== '') ?? host
  try {
    return decodeURIComponent(last)
  } catch {
    return last
  }
}

function parse(address: string, base?: URL): URL {
  const url = URL.canParse(address, base?.href) ? new URL(address, base) : undefined
  if (!url)
    throw new ConnectorError('invalid_address', 'The URL is invalid. It should look like https://example.com/file.csv.')
  url.hash = ''
  return url
}

function authorizationOf({ authentication, bearerToken, username, password }: Values): Record<string, string> {
  switch (authentication) {
    case 'bearer token':
      return { authorization: `Bearer ${bearerToken}` }
    case 'user name and password':
      return { authorization: `Basic ${Buffer.from(`${username}:${password}`).toString('base64')}` }
    default:
      return {}
  }
}
