import { type ConnectorContext, ConnectorError } from '@penstock/connector'
import type { Answer } from '../platform-api/call.ts'
import { openPlatform, type PlatformClient } from '../platform-api/client.ts'
import { textIn } from '../platform-api/json.ts'

/** Where mParticle holds the data of an account. */
export const regions = ['US1', 'US2', 'EU1', 'AU1'] as const

/** The address of the region that the connector names. */
export function originOf({ secrets }: Pick<ConnectorContext, 'secrets'>): string {
  const named = textIn(secrets.region) ?? 'US1'
  const region = regions.find((one) => one === named)
  if (region) return `https://s2s.${region.toLowerCase()}.mparticle.com`
  throw new ConnectorError('invalid_setting', `Region must be one of ${regions.join(', ')}.`)
}

export const hasKeys = ({ secrets }: Pick<ConnectorContext, 'secrets'>): boolean =>
  textIn(secrets.key) !== undefined && textIn(secrets.secret) !== undefined

/** The Events API, with the key and the secret of the connector. */
export function openEventsApi(context: ConnectorContext): PlatformClient {
  const { key, secret } = context.secrets
  if (!hasKeys(context)) {
    throw new ConnectorError('invalid_credentials', 'mParticle needs the key and the secret of an input; save both.')
  }
  return openPlatform(context, {
    name: 'mParticle',
    baseUrl: `${originOf(context)}/v2`,
    headers: { authorization: `Basic ${Buffer.from(`${key}:${secret}`).toString('base64')}` },
    errorOf,
  })
}

function errorOf({ status }: Answer): ConnectorError | undefined {
  if (status !== 401 && status !== 403) return undefined
  const message = `mParticle does not accept the key and the secret (status ${status}); check both, and the region of the account.`
  return new ConnectorError('invalid_credentials', message)
}

/** Sends batches, each with the events of one user. mParticle takes them in, or refuses the request. */
export async function sendBatches(
  mparticle: PlatformClient,
  batches: readonly unknown[],
): Promise<{ accepted: boolean; bytes: number }> {
  const { status, bytesSent: bytes } = await mparticle.ask({
    method: 'POST',
    path: '/bulkevents',
    body: batches,
    expects: (answer) => answer.status === 400,
  })
  if (status === 202 || status === 400) return { accepted: status === 202, bytes }
  throw new ConnectorError(
    'malformed_response',
    `mParticle did not confirm that it accepts the events (status ${status}).`,
  )
}
