import { type Client, createClient, PenstockError } from '@penstock/client'
import { prefix } from '../place.ts'
import { recordedFetch } from './calls.ts'

/**
 * Who is signed in. The token lives in memory and in the tab's session storage; the client secret in memory alone, for
 * as long as the page stays open, so that the token can be renewed.
 */

type Session = { clientId: string; token: string; expiresMs: number }

const storageKey = 'penstock.session'
/** A token is renewed this long before it expires. */
const renewalMarginMs = 60_000

let session = readStored()
let clientSecret: string | undefined
let renewal: Promise<string> | undefined
const listeners = new Set<() => void>()

function readStored(): Session | undefined {
  try {
    const stored: unknown = JSON.parse(sessionStorage.getItem(storageKey) ?? 'null')
    if (typeof stored !== 'object' || stored === null) return undefined
    const { clientId, token, expiresMs } = stored as Partial<Session>
    const whole = typeof clientId === 'string' && typeof token === 'string' && typeof expiresMs === 'number'
    return whole && expiresMs > Date.now() ? { clientId, token, expiresMs } : undefined
  } catch {
    return undefined
  }
}

function change(next: Session | undefined): void {
  session = next
  if (next) sessionStorage.setItem(storageKey, JSON.stringify(next))
  else sessionStorage.removeItem(storageKey)
  for (const listener of listeners) listener()
}

/** For `useSyncExternalStore`: the client that is signed in, or undefined. */
export const sessionStore = {
  subscribe(listener: () => void): () => void {
    listeners.add(listener)
    return () => listeners.delete(listener)
  },
  read: () => session?.clientId,
}

const anonymous = createClient({ baseUrl: prefix, fetch: recordedFetch, token: '' })

/** Signs in. Rejects as `createToken` does where the credentials are wrong. */
export async function signIn(credentials: { clientId: string; clientSecret: string }): Promise<void> {
  const askedMs = Date.now()
  const { reply } = await anonymous.createToken({ body: credentials })
  clientSecret = credentials.clientSecret
  change({
    clientId: credentials.clientId,
    token: reply.accessToken,
    expiresMs: askedMs + reply.expiry * 1000,
  })
}

export function signOut(): void {
  clientSecret = undefined
  change(undefined)
}

/** The token to send; another one where it was refused or is about to expire, if the secret is still known. */
async function currentToken(refused?: string): Promise<string> {
  const { clientId, token = '', expiresMs = 0 } = session ?? {}
  const good = token !== refused && Date.now() < expiresMs - renewalMarginMs
  if (good || !clientId) return token
  if (clientSecret === undefined) {
    if (token === refused) signOut()
    return token
  }
  const credentials = { clientId, clientSecret }
  renewal ??= signIn(credentials)
    .catch((error: unknown) => {
      // The credentials were revoked. Anything else, such as a service that is away, passes.
      if (error instanceof PenstockError && error.status === 401) signOut()
      else throw error
    })
    .then(() => session?.token ?? '')
    .finally(() => {
      renewal = undefined
    })
  return renewal
}

/** The client of the console: every call of it goes to the public API of the service that the page came from. */
export const client: Client = createClient({ baseUrl: prefix, fetch: recordedFetch, getToken: currentToken })

/** The token, for what is loaded outside of the client: downloads. */
export const tokenOfSession = (): Promise<string> => currentToken()
