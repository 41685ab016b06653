import type { Egress } from '@penstock/connector'
import { assertedBy } from '../azure/federation.ts'
import { type Answer, isSuccess } from '../platform-api/call.ts'
import { objectIn } from '../platform-api/json.ts'
import { type AccessTokens, openTokens } from '../platform-api/oauth.ts'
import { ask, contentOf, managerContext, notAllowed, notFound, signedIn, unavailable, unexpected } from './answers.ts'
import type { AzureAccess, OpenedManager } from './manager-access.ts'

/** Azure Key Vault: https://learn.microsoft.com/rest/api/keyvault/secrets/get-secret/get-secret */

const name = 'Azure Key Vault'
const apiVersion = '7.4'

/** Opens the vaults that an application may read. A path is the name of a vault and of a secret in it. */
export function openAzure({ tenantId, clientId, auth }: AzureAccess, egress: Egress): OpenedManager {
  const context = managerContext(egress)
  let opened: { readonly credential: string; readonly tokens: AccessTokens } | undefined
  const open = (credential: string): AccessTokens =>
    openTokens(context, {
      platform: 'Microsoft Entra ID',
      url: `https://login.microsoftonline.com/${tenantId}/oauth2/v2.0/token`,
      grant: { type: 'client_credentials' },
      scope: 'https://vault.azure.net/.default',
      client: { id: clientId, ...(auth.method === 'client-secret' ? { secret: credential } : {}) },
      ...(auth.method === 'federated' ? { parameters: assertedBy(credential) } : {}),
    })
  const token = async (refused?: string): Promise<string> => {
    const credential = await contentOf(name, auth.method === 'federated' ? auth.tokenFile : auth.clientSecretFile)
    if (opened?.credential !== credential) opened = { credential, tokens: open(credential) }
    return opened.tokens.token(refused)
  }
  return {
    async read(path) {
      const [vault = '', secret = ''] = path.split('/')
      const url = `https://${vault}.vault.azure.net/secrets/${secret}?api-version=${apiVersion}`
      const send = (bearer: string) => ask(context, name, { url, headers: { authorization: `Bearer ${bearer}` } })
      const first = await signedIn(name, () => token())
      let answer = await send(first)
      if (answer.status === 401) answer = await send(await signedIn(name, () => token(first)))
      return secretIn(answer, path)
    },
  }
}

function secretIn(answer: Answer, path: string): string {
  if (isSuccess(answer)) {
    const { value } = objectIn(answer.json)
    if (typeof value === 'string') return value
    throw unavailable(name, 'Its answer contains no secret.')
  }
  if (answer.status === 404)
    throw notFound(`Azure Key Vault has no secret ${path}. Create it, or correct the reference.`)
  // A disabled secret is refused in the same way as one without a permission.
  if (answer.status === 403) throw notAllowed(name, path)
  if (answer.status === 429) throw unavailable(name, 'It limits the rate of requests.')
  throw unexpected(name, answer)
}
