import { ConnectorError, type Egress } from '@penstock/connector'
import { type Answer, type Call, isSuccess } from '../platform-api/call.ts'
import { isObject, objectIn, textIn } from '../platform-api/json.ts'
import { ask, contentOf, managerContext, notAllowed, notFound, signedIn, unavailable, unexpected } from './answers.ts'
import type { OpenedManager, VaultAccess } from './manager-access.ts'

/** HashiCorp Vault, and OpenBao, which has the same API: https://developer.hashicorp.com/vault/api-docs/secret/kv/kv-v2 */

const name = 'Vault'

/** A token is replaced this long before it ends. */
const earlyMs = 30_000
/** A refusal replaces the token at most this often: nobody has this service sign in with every request. */
const replacedMs = 30_000

type Session = { readonly token: string; readonly usableUntilMs: number }

/** Opens the key/value engine of a Vault. Signs in with the first secret. */
export function openVault(access: VaultAccess, egress: Egress): OpenedManager {
  const context = managerContext(egress)
  const { auth, mount, namespace } = access
  const headers = { 'x-vault-request': 'true', ...(namespace === undefined ? {} : { 'x-vault-namespace': namespace }) }
  const send = (path: string, asked: Omit<Call, 'url'> = {}) =>
    ask(context, name, {
      ...asked,
      url: `${access.address}/v1/${encoded(path)}`,
      headers: { ...headers, ...asked.headers },
    })

  let session: Promise<Session> | undefined
  const signIn = async (): Promise<Session> => {
    // An agent of Vault replaces the file.
    if (auth.method === 'token') return { token: await contentOf(name, auth.tokenFile), usableUntilMs: 0 }
    const body =
      auth.method === 'approle'
        ? { role_id: auth.roleId, secret_id: await contentOf(name, auth.secretIdFile) }
        : { role: auth.role, jwt: await contentOf(name, auth.tokenFile) }
    const answer = await send(`auth/${auth.mount}/login`, { method: 'POST', body })
    const granted = isSuccess(answer) ? objectIn(objectIn(answer.json).auth) : {}
    const token = textIn(granted.client_token)
    if (token === undefined || !/^[\x21-\x7e]{1,8192}$/.test(token)) throw refusedSignIn(answer, auth.method)
    const seconds = Number(granted.lease_duration)
    // Zero: the token does not end.
    const livesMs = seconds > 0 ? seconds * 1000 : Number.POSITIVE_INFINITY
    return { token, usableUntilMs: performance.now() + Math.max(livesMs - earlyMs, livesMs / 2) }
  }
  let replacedAtMs = Number.NEGATIVE_INFINITY
  /** @param refused a token that was not accepted */
  const tokenOf = async (refused?: string): Promise<string> => {
    const known = await session?.catch(() => undefined)
    const nowMs = performance.now()
    const isReplaced = refused !== undefined && known?.token === refused && nowMs - replacedAtMs > replacedMs
    if (known && nowMs < known.usableUntilMs && !isReplaced) return known.token
    if (isReplaced) replacedAtMs = nowMs
    session = signedIn(name, signIn)
    return (await session).token
  }

  return {
    async read(path) {
      const read = (token: string) => send(`${mount}/data/${path}`, { headers: { 'x-vault-token': token } })
      const token = await tokenOf()
      const answer = await read(token)
      if (answer.status !== 403) return secretIn(answer, path)
      // The token may have been revoked, or have ended with its parent: then, a new one is accepted.
      const next = await tokenOf(token)
      return secretIn(next === token ? answer : await read(next), path)
    },
  }
}

/** Paths of references contain nothing to encode; mounts are the operator's. */
const encoded = (path: string): string => path.split('/').map(encodeURIComponent).join('/')

function secretIn(answer: Answer, path: string): string {
  if (isSuccess(answer)) {
    const { data } = objectIn(objectIn(answer.json).data)
    if (isObject(data)) return JSON.stringify(data)
    throw unavailable(name, 'Its answer is not one of a key/value engine, version 2.')
  }
  // A deleted version is a 404 with metadata.
  if (answer.status === 404) throw notFound(`Vault has no secret at ${path}. Create it, or correct the reference.`)
  if (answer.status === 403) throw notAllowed(name, path)
  if (answer.status === 429) throw unavailable(name, 'It limits the rate of requests.')
  if (answer.status === 503) throw unavailable(name, 'It is sealed, or in maintenance.')
  if (answer.status >= 300 && answer.status < 400) {
    throw unavailable(name, 'It redirects requests. Configure the address of the active node, or of a load balancer.')
  }
  throw unexpected(name, answer)
}

function refusedSignIn(answer: Answer, method: string): ConnectorError {
  if (answer.status >= 500 || answer.status === 429) return unexpected(name, answer)
  return new ConnectorError('invalid_credentials', `Vault refused the method ${method} (status ${answer.status}).`)
}
