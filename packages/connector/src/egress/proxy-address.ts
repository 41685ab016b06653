import { isIP } from 'node:net'

/** A proxy for outgoing connections. It is plain data, so that it can be sent to another process. */
export type OutgoingProxy = {
  /** CONNECT of HTTP, the same over TLS, or SOCKS5. */
  readonly scheme: 'http' | 'https' | 'socks5'
  readonly host: string
  readonly port: number
  /** Empty if the proxy needs no user. */
  readonly user: string
  readonly password: string
}

const ports = { http: 80, https: 443, socks5: 1080 } as const

/**
 * Reads `http://proxy.internal:3128`, `https://…` or `socks5://…`, with or without a user and password before the host.
 * @returns undefined for anything else
 */
export function parseProxy(text: string): OutgoingProxy | undefined {
  const url = URL.canParse(text.trim()) ? new URL(text.trim()) : undefined
  const scheme = url?.protocol.slice(0, -1)
  if (!url || (scheme !== 'http' && scheme !== 'https' && scheme !== 'socks5')) return undefined
  if (url.hostname === '' || url.search || url.hash || !['', '/'].includes(url.pathname)) return undefined
  try {
    const [user, password] = [decodeURIComponent(url.username), decodeURIComponent(url.password)]
    // SOCKS5 has one byte for their length.
    if ([user, password].some((one) => Buffer.byteLength(one) > 255)) return undefined
    return {
      scheme,
      host: url.hostname.replace(/^\[(.*)\]$/s, '$1'),
      port: Number(url.port) || ports[scheme],
      user,
      password,
    }
  } catch {
    return undefined
  }
}

/** The proxy in words, without its user and password. */
export const describeProxy = ({ scheme, host, port }: OutgoingProxy): string =>
  `${scheme}://${isIP(host) === 6 ? `[${host}]` : host}:${port}`
