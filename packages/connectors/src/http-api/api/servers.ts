import { ConnectorError, type Values } from '@penstock/connector'

/** The servers of a configuration: that of the base URL, and others by name. */
export type ApiServers = {
  readonly base: URL
  readonly others: ReadonlyMap<string, URL>
  /** Origins to which requests go: those of all servers. */
  readonly origins: ReadonlySet<string>
}

const serversMax = 20

/** Reads the addresses of a configuration. Throws `invalid_address` if one of them cannot be used. */
export function serversOf({ url, servers }: Values): ApiServers {
  const base = baseOf(url)
  if (!base) {
    const message =
      'The base URL is invalid. It looks like https://api.example.com/v1, without a user name and a query.'
    throw new ConnectorError('invalid_address', message)
  }
  const read = readServers(String(servers ?? ''))
  if ('wrong' in read) throw new ConnectorError('invalid_address', `The field Other servers ${read.wrong}.`)
  return { base, others: read.others, origins: new Set([base, ...read.others.values()].map(({ origin }) => origin)) }
}

/** For the field: what is wrong with a list of servers, `name=https://…`, separated by spaces or lines. */
export function serversError(text: string): string | undefined {
  const read = readServers(text)
  return 'wrong' in read ? read.wrong : undefined
}

function readServers(text: string): { readonly others: Map<string, URL> } | { readonly wrong: string } {
  const entries = text.split(/[\s,]+/).filter((one) => one !== '')
  const others = new Map<string, URL>()
  for (const entry of entries) {
    const [, name, address] = /^([\w-]{1,50})=(.+)$/.exec(entry) ?? []
    const url = baseOf(address)
    if (name === undefined || !url) return { wrong: 'must have entries such as files=https://files.example.com/v1' }
    others.set(name, url)
  }
  if (others.size < entries.length) return { wrong: 'has a name twice' }
  return others.size > serversMax ? { wrong: `must have at most ${serversMax} servers` } : { others }
}

function baseOf(given: unknown): URL | undefined {
  const base = URL.canParse(String(given)) ? new URL(String(given)) : undefined
  if (!base || !/^https?:$/.test(base.protocol) || base.search !== '' || base.hash !== '' || base.username !== '') {
    return undefined
  }
  // A pattern for slashes at the end would begin again at each slash.
  const { pathname } = base
  let end = pathname.length
  while (pathname[end - 1] === '/') end--
  base.pathname = pathname.slice(0, end)
  return base
}
