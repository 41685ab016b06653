import { randomBytes } from 'node:crypto'
import { type PlatformServer, type Received, type Reply, startPlatform } from './platform-server.ts'

/**
 * The part of the HTTP API of HashiCorp Vault that reads and writes a key/value engine, version 2, mounted at `secret`, and
 * signs in by AppRole and with the tokens of a Kubernetes cluster: https://developer.hashicorp.com/vault/api-docs
 */
export type VaultServer = PlatformServer & {
  /** Stores a version of a secret. */
  put(path: string, data: Readonly<Record<string, unknown>>): void
  /** Deletes the last version, which can be undeleted. */
  remove(path: string): void
  /** Has tokens of sign-ins no longer work. */
  revokeTokens(): void
  /** Paths that no policy allows. */
  readonly forbidden: Set<string>
  isSealed: boolean
  /** Sign-ins so far, by method. */
  readonly signIns: string[]
}

export const vaultOfTests = {
  rootToken: 'hvs.canary-root-token',
  roleId: '59d6d1ca-47bb-4e7e-a40b-8be3bc5a0ba8',
  secretId: '84896a0c-1347-aa90-a4f6-aca8b7558780',
  role: 'penstock',
  jwt: 'canary.service-account.jwt',
}

type Version = { readonly data: Readonly<Record<string, unknown>> | null; readonly deleted: string }

export async function startVault({ namespace }: { namespace?: string } = {}): Promise<VaultServer> {
  const secrets = new Map<string, Version[]>()
  const tokens = new Set<string>()
  const forbidden = new Set<string>()
  const state = { isSealed: false }
  const signIns: string[] = []

  const signIn = (method: string): Reply => {
    const token = `hvs.${randomBytes(12).toString('base64url')}`
    tokens.add(token)
    signIns.push(method)
    return ok({
      auth: {
        client_token: token,
        accessor: randomBytes(12).toString('hex'),
        policies: ['default', 'penstock'],
        token_policies: ['default', 'penstock'],
        metadata: { role_name: 'penstock' },
        lease_duration: 1_200,
        renewable: true,
        token_type: 'service',
      },
    })
  }
  const secret = (path: string, { method, json }: Received): Reply => {
    if (forbidden.has(path)) return errors(403, '1 error occurred:\n\t* permission denied\n\n')
    const versions = secrets.get(path) ?? []
    if (method === 'POST' || method === 'PUT') {
      const { data } = (json ?? {}) as { data?: Record<string, unknown> }
      if (!data) return errors(400, 'no data provided')
      secrets.set(path, [...versions, { data, deleted: '' }])
      return ok({ data: metadata(versions.length + 1, '') })
    }
    const last = versions.at(-1)
    if (!last) return errors(404)
    const data = { data: last.data, metadata: metadata(versions.length, last.deleted) }
    return { ...ok({ data, mount_type: 'kv' }), status: last.data === null ? 404 : 200 }
  }
  const answer = (received: Received): Reply => {
    const { method, path, headers } = received
    if (state.isSealed) return errors(503, 'Vault is sealed')
    if (namespace !== undefined && headers['x-vault-namespace'] !== namespace) {
      return errors(404, 'no handler for route "". route entry not found.')
    }
    const body = (received.json ?? {}) as Record<string, unknown>
    if (method !== 'GET' && path === '/v1/auth/approle/login') {
      const isRight = body.role_id === vaultOfTests.roleId && body.secret_id === vaultOfTests.secretId
      return isRight ? signIn('approle') : errors(400, 'invalid role or secret ID')
    }
    if (method !== 'GET' && path === '/v1/auth/kubernetes/login') {
      const isRight = body.role === vaultOfTests.role && body.jwt === vaultOfTests.jwt
      return isRight ? signIn('kubernetes') : errors(403, 'permission denied')
    }
    const token = String(headers['x-vault-token'] ?? '')
    if (token !== vaultOfTests.rootToken && !tokens.has(token)) return errors(403, 'permission denied')
    const [, name] = /^\/v1\/secret\/data\/(.+)$/.exec(path) ?? []
    if (name === undefined) return errors(404, `no handler for route "${path.slice(4)}". route entry not found.`)
    return secret(decodeURIComponent(name), received)
  }
  const platform = await startPlatform(answer)
  return {
    ...platform,
    put: (path: string, data: Readonly<Record<string, unknown>>) => {
      secrets.set(path, [...(secrets.get(path) ?? []), { data, deleted: '' }])
    },
    remove: (path: string) => {
      secrets.set(path, [...(secrets.get(path) ?? []).slice(0, -1), { data: null, deleted: '2026-11-30T10:00:00Z' }])
    },
    revokeTokens: () => tokens.clear(),
    forbidden,
    signIns,
    get isSealed() {
      return state.isSealed
    },
    set isSealed(isSealed: boolean) {
      state.isSealed = isSealed
    },
  }
}

const metadata = (version: number, deletion_time: string) => ({
  created_time: '2026-11-30T09:00:00.000000000Z',
  custom_metadata: null,
  deletion_time,
  destroyed: false,
  version,
})

const ok = (content: object): Reply => ({
  json: {
    request_id: '2f7d2f3a-2a7e-41aa-a1f2-5d2b1c3a4e55',
    lease_id: '',
    renewable: false,
    lease_duration: 0,
    data: null,
    wrap_info: null,
    warnings: null,
    auth: null,
    ...content,
  },
})

const errors = (status: number, ...messages: string[]): Reply => ({ status, json: { errors: messages } })
