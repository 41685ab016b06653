import { type Client, createClient } from '@penstock/client'
import { ConfigError } from '../config.ts'

/** Options of commands that call the API of a service. */
export type RemoteService = { url?: string; json?: boolean }

/**
 * The client that the environment names. The secret is never an argument, since other processes can read arguments.
 * @throws ConfigError if a setting is missing, or the address is not valid
 */
export function connect({ url = process.env.PENSTOCK_URL }: RemoteService): { client: Client; baseUrl: string } {
  const { PENSTOCK_CLIENT_ID: clientId, PENSTOCK_CLIENT_SECRET: clientSecret } = process.env
  const missing = Object.entries({
    'PENSTOCK_URL, or --url,': url,
    PENSTOCK_CLIENT_ID: clientId,
    PENSTOCK_CLIENT_SECRET: clientSecret,
  }).filter(([, value]) => !value)
  if (missing.length > 0)
    throw new ConfigError(missing.map(([name]) => `${name} is not set: set it to call a service.`))
  if (!URL.canParse(url ?? '') || !/^https?:$/.test(new URL(url ?? '').protocol))
    throw new ConfigError(['PENSTOCK_URL must be an address, such as https://penstock.example.com.'])
  const baseUrl = url ?? ''
  return { client: createClient({ baseUrl, clientId: clientId ?? '', clientSecret: clientSecret ?? '' }), baseUrl }
}
