import { type Connector, ConnectorError, type Egress, type Values } from '@penstock/connector'
import { type OpenEgress, type OpenRelay, parseProxy, proxyRelay } from '@penstock/connector/egress'

/**
 * The egress of a connector with the bastion or the proxy of its configuration, if it has one. Everything that the connector
 * connects to goes through it. Through a bastion, requests go only if they are for a server that a person entered: a warehouse
 * that stages its files elsewhere reaches that place directly.
 * @param secrets the configuration, with defaults
 */
export function reach(egress: OpenEgress, { servers = [] }: Pick<Connector, 'servers'>, secrets: Values): Egress {
  if (servers.length === 0) return egress
  if (secrets.connectThrough === 'proxy') return throughProxy(egress, secrets)
  if (secrets.connectThrough !== 'bastion') return egress
  const open: OpenRelay = async (options) => (await import('./bastion.ts')).openBastion(egress.dial, secrets, options)
  const behind = egress.through(open)
  const hosts = servers.flatMap((key) => hostsIn(String(secrets[key] ?? '')))
  return {
    connect: behind.connect,
    request: (url, init) => (hosts.includes(hostsIn(String(url))[0] ?? '') ? behind : egress).request(url, init),
  }
}

function throughProxy(egress: OpenEgress, { proxyAddress, proxyUser = '', proxyPassword = '' }: Values): Egress {
  const address = parseProxy(String(proxyAddress))
  if (!address) throw new ConnectorError('invalid_address', 'The address of the proxy is not valid. Enter it again.')
  const proxy = { ...address, user: String(proxyUser), password: String(proxyPassword) }
  return egress.through(proxyRelay(proxy, egress.dial))
}

/** The host of a URL. Empty for a host without a scheme, to which no requests are sent. */
const hostsIn = (text: string): string[] => (URL.canParse(text.trim()) ? [new URL(text.trim()).host] : [])
