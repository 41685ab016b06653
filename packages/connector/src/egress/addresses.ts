import { BlockList, isIP } from 'node:net'

/**
 * Allowed destinations of connections. `any`: all except link-local and metadata addresses, because users choose the addresses
 * and must not get the credentials of the machine. `public`: only addresses of the public internet.
 */
export type NetworkPolicy = 'any' | 'public'

/** Link-local networks, and the addresses where clouds serve the credentials of a machine. */
const neverIpv4 = [
  '169.254.0.0/16', // Link-local; metadata of AWS, Google Cloud, Azure, Oracle, DigitalOcean and others.
  '100.100.100.200/32', // Metadata of Alibaba Cloud.
  '168.63.129.16/32', // What Azure's machines ask for their settings.
  '192.0.0.192/32', // Metadata of Oracle's older machines.
]
const neverIpv6 = [
  'fe80::/10', // Link-local.
  'fd00:ec2::/32', // Metadata and credentials on AWS.
  'fd20:ce::254/128', // Metadata of Google Cloud.
  'fd00:42::42/128', // Metadata of Scaleway.
  '64:ff9b:1::/48', // Translation to IPv4 by rules of the local network: the address does not say where it leads.
]

/** Networks that are not routed on the public internet, from IANA's registries of special addresses. */
const privateIpv4 = [
  '0.0.0.0/8',
  '10.0.0.0/8',
  '100.64.0.0/10',
  '127.0.0.0/8',
  '172.16.0.0/12',
  '192.0.0.0/24',
  '192.0.2.0/24',
  '192.31.196.0/24',
  '192.52.193.0/24',
  '192.88.99.0/24',
  '192.168.0.0/16',
  '192.175.48.0/24',
  '198.18.0.0/15',
  '198.51.100.0/24',
  '203.0.113.0/24',
  '224.0.0.0/3',
]
/** In IPv6, only 2000::/3 is used publicly, and 64:ff9b::/96 represents IPv4. These are the exceptions. */
const privateIpv6 = ['2001::/23', '2001:db8::/32', '2002::/16', '2620:4f:8000::/48', '3fff::/20']

const barred = { any: new BlockList(), public: new BlockList() }
for (const subnet of neverIpv4) for (const list of [barred.any, barred.public]) barIpv4(list, subnet)
for (const subnet of neverIpv6) for (const list of [barred.any, barred.public]) barSubnet(list, subnet)
for (const subnet of privateIpv4) barIpv4(barred.public, subnet)
for (const subnet of privateIpv6) barSubnet(barred.public, subnet)

const publicIpv6 = new BlockList()
barSubnet(publicIpv6, '2000::/3')
barSubnet(publicIpv6, '64:ff9b::/96')

/** Names of a machine's metadata, regardless of the address to which they resolve. */
const barredNames = /^(metadata(\.google\.internal|\.goog)?|instance-data(\.ec2\.internal)?|metadata\.tencentyun\.com)$/

/**
 * Kind of an address: `public`, `private`, or `never` for addresses that must not be connected to: link-local and
 * metadata addresses, and texts that are not addresses.
 */
export function kindOfAddress(address: string): 'public' | 'private' | 'never' {
  // The zone of an IPv6 address names an interface of this machine. Only link-local addresses have a zone.
  const plain = address.replace(/%.*$/s, '')
  const version = isIP(plain)
  if (version === 0) return 'never'
  const family = version === 4 ? 'ipv4' : 'ipv6'
  if (barred.any.check(plain, family)) return 'never'
  if (barred.public.check(plain, family)) return 'private'
  return family === 'ipv4' || publicIpv6.check(plain, family) ? 'public' : 'private'
}

/** Whether connecting to an IP address is allowed. Texts that are not addresses are refused. */
export function isAllowedAddress(address: string, networkPolicy: NetworkPolicy): boolean {
  const kind = kindOfAddress(address)
  return kind === 'public' || (kind === 'private' && networkPolicy === 'any')
}

/** Whether a host name can be looked up at all. */
export const isAllowedName = (host: string): boolean => !barredNames.test(plainName(host))

/** The normal form of a host name, for comparison. */
export const plainName = (host: string): string => host.toLowerCase().replace(/\.+$/, '')

/** Bars a network in every form in which IPv6 carries IPv4: mapped, compatible, translated by NAT64, 6to4. */
function barIpv4(list: BlockList, subnet: string): void {
  const [network = '', bits = ''] = subnet.split('/')
  list.addSubnet(network, Number(bits), 'ipv4')
  for (const prefix of ['::ffff:', '::ffff:0:', '::', '64:ff9b::']) {
    list.addSubnet(`${prefix}${network}`, 96 + Number(bits), 'ipv6')
  }
  const bytes = network.split('.').map((byte) => Number(byte).toString(16).padStart(2, '0'))
  list.addSubnet(`2002:${bytes[0]}${bytes[1]}:${bytes[2]}${bytes[3]}::`, 16 + Number(bits), 'ipv6')
}

function barSubnet(list: BlockList, subnet: string): void {
  const [network = '', bits = ''] = subnet.split('/')
  list.addSubnet(network, Number(bits), 'ipv6')
}
