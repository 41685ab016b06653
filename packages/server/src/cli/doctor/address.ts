import type { Config } from '../../config.ts'
import { exposureOf } from '../../egress-settings.ts'
import { type Finding, problem, warning, well } from './check.ts'
import { ask, describeFailure, withoutSecrets } from './http.ts'

const dayMs = 86_400_000
const certificateDaysMin = 14

/** Whether passwords and tokens travel in plain text, or the addresses of clients are unknown. */
export function checkListening({ host, port, publicUrl, trustedProxies }: Config): Finding {
  const where = `${host.includes(':') ? `[${host}]` : host}:${port}`
  const isExposed = exposureOf((name) => (name === 'PENSTOCK_HOST' ? host : undefined)) !== undefined
  if (!isExposed) return well(`${where}, which only this machine reaches`)
  const isSecure = publicUrl.startsWith('https:')
  if (isSecure && trustedProxies.length > 0) return well(`${where}, behind ${trustedProxies.join(', ')}`)
  const lacks = [
    ...(isSecure
      ? []
      : [
          'without TLS: passwords and tokens can be read on the network. Put a reverse proxy with TLS in front, and set PENSTOCK_PUBLIC_URL to its https address',
        ]),
    ...(trustedProxies.length > 0
      ? []
      : [
          'without a trusted proxy: the addresses of clients are unknown behind one. Set PENSTOCK_TRUSTED_PROXIES, or PENSTOCK_HOST=127.0.0.1 if the proxy is on this machine',
        ]),
  ]
  return warning(`${where} is open to the network ${lacks.join('; and ')}`)
}

/**
 * Checks whether callers reach the service at its public address. If the service is not running yet, the result is a warning.
 */
export async function checkPublicUrl(
  env: NodeJS.ProcessEnv,
  { publicUrl }: Pick<Config, 'publicUrl'>,
): Promise<Finding> {
  if (!env.PENSTOCK_PUBLIC_URL) return well(`${publicUrl}, from host and port`)
  const url = new URL(`${publicUrl}/healthz`)
  const plain = url.protocol === 'http:' && !/^(?:localhost|127\.[\d.]+|\[::1\])$/.test(url.hostname)
  const server = withoutSecrets(new URL(publicUrl))
  try {
    const { status, certificateExpires } = await ask(url)
    if (status !== 200)
      return warning(
        `${server} answers /healthz with the status ${status}. Check PENSTOCK_PUBLIC_URL, and the reverse proxy in front.`,
      )
    const days = certificateExpires ? Math.floor((certificateExpires.getTime() - Date.now()) / dayMs) : undefined
    if (days !== undefined && days < certificateDaysMin)
      return warning(`The TLS certificate of ${server} expires in ${days} days. Renew it.`)
    if (plain)
      return warning(`${server} answers, without TLS: passwords and tokens can be read on the network. Use https.`)
    return well(`${server} answers`)
  } catch (error) {
    const message = describeFailure(error, server)
    if (/certificate|TLS/.test(message))
      return problem(`${message} Renew or replace the certificate of the reverse proxy, or check PENSTOCK_PUBLIC_URL.`)
    return warning(
      `${message} Start the service, or check PENSTOCK_PUBLIC_URL and the reverse proxy. Some networks do not let this machine reach its own public address.`,
    )
  }
}
