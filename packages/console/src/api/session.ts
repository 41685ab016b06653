import { type Client, createClient, type Fetch, NoAnswerError, PenstockError } from '@penstock/client'
import type { Me } from '@penstock/wire'
import { basePath } from '../base-path.ts'
import { components } from '../strings/components.ts'
import { recordedFetch } from './calls.ts'

/**
 * The signed-in user, in every tab of the browser until one of them signs out.
 *
 * People have a session in a cookie, which no script can read: the local storage only has their identifier. The token
 * against cross-site request forgery is in the memory of the page.
 *
 * For client credentials, the local storage has the access token. The secret is only in the memory of the tab in which
 * it was typed, for as long as the page stays open, so that the token can be renewed.
 */

type KeySession = { clientId: string; token: string; expiresMs: number }
type PersonSession = { userId: string }
type Session = KeySession | PersonSession

const storageKey = 'penstock.session'
/** How someone signed in last, for the next time; it outlives the session. */
const lastKindKey = 'penstock.signed-in-with'
/** Prefix of other values that the browser stores for the signed-in user, and not for the next one. */
const keptPrefix = 'penstock.kept.'
/** A token is renewed this long before it expires. */
const renewalMarginMs = 60_000

let session = readStored()
let clientSecret: string | undefined
let csrfToken: string | undefined
let renewal: Promise<string> | undefined
const listeners = new Set<() => void>()

const idOf = (one: Session | undefined) => (one && 'userId' in one ? one.userId : one?.clientId)

function readStored(): Session | undefined {
  try {
    const stored: unknown = JSON.parse(localStorage.getItem(storageKey) ?? 'null')
    if (typeof stored !== 'object' || stored === null) return undefined
    const { userId, clientId, token, expiresMs } = stored as Partial<KeySession & PersonSession>
    if (typeof userId === 'string') return { userId }
    const whole = typeof clientId === 'string' && typeof token === 'string' && typeof expiresMs === 'number'
    return whole && expiresMs > Date.now() ? { clientId, token, expiresMs } : undefined
  } catch {
    return undefined
  }
}

/** Takes over what this tab or another one has stored. */
function take(next: Session | undefined): void {
  if (idOf(next) !== idOf(session)) {
    clientSecret = undefined
    csrfToken = undefined
  }
  session = next
  for (const listener of listeners) listener()
}

function change(next: Session | undefined): void {
  if (next) {
    localStorage.setItem(storageKey, JSON.stringify(next))
    localStorage.setItem(lastKindKey, 'userId' in next ? 'user' : 'client')
  } else localStorage.removeItem(storageKey)
  take(next)
}

// Another tab signed in, renewed the token or signed out; the key is null where the whole storage was cleared.
window.addEventListener('storage', ({ storageArea, key }) => {
  if (storageArea === localStorage && (key === storageKey || key === null)) take(readStored())
})
// A page that the browser has kept to go back to did not hear of it.
window.addEventListener('pageshow', ({ persisted }) => {
  if (persisted) take(readStored())
})

/** For `useSyncExternalStore`: the person or the client that is signed in, or undefined. */
export const sessionStore = {
  subscribe(listener: () => void): () => void {
    listeners.add(listener)
    return () => listeners.delete(listener)
  },
  read: () => idOf(session),
}

/** Whether client credentials were used to sign in last. */
export const usedClientLast = (): boolean => localStorage.getItem(lastKindKey) === 'client'

/** Values that the browser stores by name for the signed-in user, as text, until sign-out; null if there is none. */
export const kept = {
  /** Its key in the local storage, which the storage events name. */
  keyOf: (name: string) => `${keptPrefix}${idOf(session) ?? ''}.${name}`,
  read(name: string): string | null {
    try {
      return localStorage.getItem(kept.keyOf(name))
    } catch {
      // A frame may have no storage.
      return null
    }
  },
  write(name: string, text: string): void {
    try {
      localStorage.setItem(kept.keyOf(name), text)
    } catch {
      // The storage is full or closed: what is kept is a help, and nothing depends on it.
    }
  },
}

/** Sends the cookie of a person's session, and no token. */
const cookieFetch: Fetch = (address, init) => {
  const headers = new Headers(init.headers)
  headers.delete('authorization')
  return recordedFetch(address, { ...init, headers, credentials: 'same-origin' })
}
/** Before someone is signed in. The answer to a sign-in sets the cookie. */
export const anonymous: Client = createClient({ baseUrl: basePath, fetch: cookieFetch, token: '' })

type Credentials = { clientId: string; clientSecret: string }

async function sessionFor(credentials: Credentials): Promise<KeySession> {
  const askedMs = Date.now()
  const { reply } = await anonymous.createToken({ body: credentials })
  return { clientId: credentials.clientId, token: reply.accessToken, expiresMs: askedMs + reply.expiry * 1000 }
}

/** Signs in with client credentials. Rejects as `createToken` does if they are wrong. */
export async function signInClient(credentials: Credentials): Promise<void> {
  change(await sessionFor(credentials))
  clientSecret = credentials.clientSecret
}

/** Takes over the session of a person that has just begun, or that has a new cookie. */
export function takePerson({ id, csrfToken: token }: Me): void {
  change({ userId: id })
  csrfToken = token ?? undefined
}

/**
 * Ends the session in every tab of the browser. That of a person ends at the service first; rejects if that cannot be
 * reached, as the cookie would stay.
 */
export async function signOut(): Promise<void> {
  if (session && 'userId' in session) {
    await client.signOut().catch((error: unknown) => {
      if (!(error instanceof PenstockError && error.status === 401)) throw error
    })
  }
  forgetSession()
}

/** Forgets a session that has ended, in every tab of the browser. */
export function forgetSession(): void {
  for (const key of Object.keys(localStorage)) if (key.startsWith(keptPrefix)) localStorage.removeItem(key)
  change(undefined)
}

/** The token to send; a new one if it was refused or is about to expire, if the secret is still known. */
async function currentToken(refused?: string): Promise<string> {
  if (session && 'userId' in session) {
    // The cookie alone says who asks; it has ended, or the person was removed.
    if (refused !== undefined) change(undefined)
    return ''
  }
  const { clientId, token = '', expiresMs = 0 } = session ?? {}
  const good = token !== refused && Date.now() < expiresMs - renewalMarginMs
  if (good || !clientId) return token
  if (clientSecret === undefined) {
    if (token === refused) change(undefined)
    return token
  }
  const credentials = { clientId, clientSecret }
  renewal ??= sessionFor(credentials)
    .then(
      (renewed) => {
        // A client that has signed out in the meantime stays signed out.
        if (idOf(session) === clientId) change(renewed)
      },
      (error: unknown) => {
        // The credentials were revoked. Anything else, such as a service that is away, passes.
        if (error instanceof PenstockError && error.status === 401) change(undefined)
        else throw error
      },
    )
    .then(() => (session && 'token' in session ? session.token : ''))
    .finally(() => {
      renewal = undefined
    })
  return renewal
}

/** As `recordedFetch`; for a person with their cookie, and with the token that a write needs. */
const sessionFetch: Fetch = async (address, init) => {
  const person = session
  if (!person || !('userId' in person)) return recordedFetch(address, init)
  if ((init.method ?? 'GET') === 'GET') return cookieFetch(address, init)
  const send = async () => {
    // Where the session has ended, the service says so to what is sent.
    csrfToken ??= await anonymous.getMe().then(
      ({ reply }) => reply.csrfToken ?? undefined,
      () => undefined,
    )
    const headers = new Headers(init.headers)
    headers.set('x-csrf-token', csrfToken ?? '')
    return cookieFetch(address, { ...init, headers })
  }
  const response = await send()
  if (response.status !== 403) return response
  const { response: refused } = (await response.clone().json()) as { response?: { error?: string } }
  // Another tab has a new cookie, which this page sends from now on. Nothing was done yet.
  if (refused?.error !== 'csrf_token_invalid' || session !== person) return response
  csrfToken = undefined
  return send()
}

/** The client of the console: every call of it goes to the public API of the service that the page came from. */
export const client: Client = createClient({ baseUrl: basePath, fetch: sessionFetch, getToken: currentToken })

/** Reads what is no JSON, such as a download. @param accept a media type */
export async function fetchInSession(address: string, accept: string): Promise<Response> {
  const token = await currentToken()
  return sessionFetch(address, { headers: { accept, authorization: `Bearer ${token}` } }).catch((cause: unknown) => {
    throw new NoAnswerError(components.unreachable, { cause })
  })
}
