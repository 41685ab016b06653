import type { ConnectorContext } from '@penstock/connector'
import { openPlatform } from '../../platform-api/client.ts'
import { textIn } from '../../platform-api/json.ts'
import type { ApiRequest } from '../definition/definition.ts'
import { explained } from './api.ts'
import { credentialsOf } from './credentials.ts'
import { callOf } from './operation-request.ts'
import { serversOf } from './servers.ts'
import { createShield } from './shield.ts'

/** Sends the request by which a definition tries the credentials. Throws connector errors. */
export async function askCheck(given: ConnectorContext, check: ApiRequest): Promise<void> {
  const { shield, context } = createShield(given)
  const servers = serversOf(context.secrets)
  const name = textIn(context.secrets.apiName) ?? servers.base.host
  const credentials = shield.watch(credentialsOf(context, name))
  const client = openPlatform(context, { name, baseUrl: '', ...(credentials && { credentials }) })
  await explained(() => client.ask(callOf(servers, { ...check, method: 'GET' }, {})))
}
