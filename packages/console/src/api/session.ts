import { type Client, createClient, PenstockError } from '@penstock/client'
import { basePath } from '../base-path.ts'
import { recordedFetch } from './calls.ts'

/**
 * Who is signed in. The token is in the browser's local storage, where every tab finds it until one of them signs out; the
 * client secret is in the memory of the tab where it was typed alone, for as long as the page stays open, so that the
 * token can be renewed.
 */

type Session = { clientId: string; token: string; expiresMs: number }

const storageKey = 'penstock.session'
/** What else the browser keeps for the client that is signed in, and not for the next one. */
const keptPrefix = 'penstock.kept.'
/** A token is renewed this long before it expires. */
const renewalMarginMs = 60_000

let session = readStored()
let clientSecret: string | undefined
let renewal: Promise<string> | undefined
const listeners = new Set<() => void>()

function readStored(): Session | undefined {
  try {
    const stored: unknown = JSON.parse(localStorage.getItem(storageKey) ?? 'null')
    if (typeof stored !== 'object' || stored === null) return undefined
    const { clientId, token, expiresMs } = stored as Partial<Session>
    const whole = typeof clientId === 'string' && typeof token === 'string' && typeof expiresMs === 'number'
    return whole && expiresMs > Date.now() ? { clientId, token, expiresMs } : undefined
  } catch {
    return undefined
  }
}

/** Takes over what this tab or another one has stored. */
function take(next: Session | undefined): void {
  if (next?.clientId !== session?.clientId) clientSecret = undefined
  session = next
  for (const listener of listeners) listener()
}

function change(next: Session | undefined): void {
  if (next) localStorage.setItem(storageKey, JSON.stringify(next))
  else localStorage.removeItem(storageKey)
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

/** For `useSyncExternalStore`: the client that is signed in, or undefined. */
export const sessionStore = {
  subscribe(listener: () => void): () => void {
    listeners.add(listener)
    return () => listeners.delete(listener)
  },
  read: () => session?.clientId,
}

/** What the browser keeps under a name for the client that is signed in, as text, until it signs out; null where nothing. */
export const kept = {
  /** Where it is kept in the local storage, whose events name it. */
  keyOf: (name: string) => `${keptPrefix}${session?.clientId ?? ''}.${name}`,
  read: (name: string) => localStorage.getItem(kept.keyOf(name)),
  write(name: string, text: string): void {
    try {
      localStorage.setItem(kept.keyOf(name), text)
    } catch {
      // The storage is full or closed: what is kept is a help, and nothing depends on it.
    }
  },
}

const anonymous = createClient({ baseUrl: basePath, fetch: recordedFetch, token: '' })

type Credentials = { clientId: string; clientSecret: string }

async function sessionFor(credentials: Credentials): Promise<Session> {
  const askedMs = Date.now()
  const { reply } = await anonymous.createToken({ body: credentials })
  return { clientId: credentials.clientId, token: reply.accessToken, expiresMs: askedMs + reply.expiry * 1000 }
}

/** Signs in. Rejects as `createToken` does where the credentials are wrong. */
export async function signIn(credentials: Credentials): Promise<void> {
  change(await sessionFor(credentials))
  clientSecret = credentials.clientSecret
}

/** Ends the session in every tab of the browser. */
export function signOut(): void {
  for (const key of Object.keys(localStorage)) if (key.startsWith(keptPrefix)) localStorage.removeItem(key)
  change(undefined)
}

/** The token to send; another one where it was refused or is about to expire, if the secret is still known. */
async function currentToken(refused?: string): Promise<string> {
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
        if (session?.clientId === clientId) change(renewed)
      },
      (error: unknown) => {
        // The credentials were revoked. Anything else, such as a service that is away, passes.
        if (error instanceof PenstockError && error.status === 401) change(undefined)
        else throw error
      },
    )
    .then(() => session?.token ?? '')
    .finally(() => {
      renewal = undefined
    })
  return renewal
}

/** The client of the console: every call of it goes to the public API of the service that the page came from. */
export const client: Client = createClient({ baseUrl: basePath, fetch: recordedFetch, getToken: currentToken })

/** The token, for what is loaded outside of the client: downloads. */
export const tokenOfSession = (): Promise<string> => currentToken()
