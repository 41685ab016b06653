/** Addresses that tenants give, and browsers are sent to or compare. */

/** `localhost`, names below it, and the loopback addresses. Pages there can be developed without TLS. */
const isLoopback = (hostname: string) =>
  /^(?:.+\.)?localhost$/.test(hostname) || /^127\.\d+\.\d+\.\d+$/.test(hostname) || hostname === '[::1]'

const isWeb = ({ protocol, hostname }: URL) => protocol === 'https:' || (protocol === 'http:' && isLoopback(hostname))
const needed = 'must be an address with https, or with http on this machine'

/** Parses an address to send browsers to. Returns its standard form, or a message about the problem. */
export function readRedirectUrl(text: string): { url: string } | { message: string } {
  const url = URL.parse(text)
  if (!url || !isWeb(url)) return { message: needed }
  if (url.username || url.password) return { message: 'must have no credentials' }
  return { url: url.href }
}

/** Parses an origin. Returns its standard form, or a message about the problem. */
export function readOrigin(text: string): { origin: string } | { message: string } {
  const url = URL.parse(text)
  if (!url || !isWeb(url)) return { message: `${needed}: https://shop.example.com` }
  // A list of sources would be read otherwise.
  if (!/^[a-z]+:\/\/[a-z0-9.[\]:-]+$/.test(url.origin)) return { message: 'must name one host' }
  if (![url.origin, `${url.origin}/`].includes(url.href) || url.href.replace(/\/$/, '') !== url.origin) {
    return { message: 'must be a scheme, a host and perhaps a port, and nothing else' }
  }
  return { origin: url.origin }
}
