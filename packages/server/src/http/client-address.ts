import { isIPv4, isIPv6, SocketAddress } from 'node:net'

/**
 * The IP address of the client that sent a request: behind trusted proxies, the address that they report in `X-Forwarded-For`.
 * If they report a text that is not an address, it is the address of the connection.
 */
export const clientAddressOf = ({
  ip,
  socket,
}: {
  ip: string
  socket: { remoteAddress?: string | undefined }
}): string => normaliseAddress(ip) ?? normaliseAddress(socket.remoteAddress ?? '') ?? ''

/**
 * One form for each address: IPv6 in the form of RFC 5952, without its zone, and an IPv4 address that is mapped into IPv6 as IPv4.
 * Some proxies add the port of the client.
 * @returns undefined if the text is not an address
 */
export function normaliseAddress(text: string): string | undefined {
  if (isIPv4(text)) return text
  const [, bracketed, withPort] = /^(?:\[([^\]]*)\](?::\d{1,5})?|([\d.]+):\d{1,5})$/.exec(text) ?? []
  const [plain = ''] = (bracketed ?? withPort ?? text).split('%')
  if (isIPv4(plain)) return plain
  if (!isIPv6(plain)) return undefined
  const { address } = new SocketAddress({ address: plain, family: 'ipv6' })
  const mapped = address.replace(/^::ffff:(?=\d+\.)/i, '')
  return isIPv4(mapped) ? mapped : address
}
