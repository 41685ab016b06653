import { type ConnectorContext, createRemoval, redactedText } from '@penstock/connector'
import type { Answer } from '../../platform-api/call.ts'
import type { Credentials, SignInHeaders } from '../../platform-api/client.ts'
import { secretFields } from './secret-fields.ts'

/**
 * Takes secrets out of answers before the definition sees them. An API can repeat the credentials of a request, and an expression could
 * then bring them, in parts or in another encoding, into rows, into the next request or into an error.
 */
export type Shield = {
  /** The answer without secrets, for rules and for people. */
  answer(answer: Answer): Answer
  /** A value of JSON that was read from an answer, without secrets. The value itself is changed. */
  content(value: unknown): unknown
  /** The credentials; what they sign requests with is secret from then on. */
  watch(credentials: Credentials | undefined): Credentials | undefined
}

/** Headers by which servers give sessions. */
const sessionHeaders = ['set-cookie', 'set-cookie2', 'authentication-info', 'authorization']
/** How many credentials that were obtained in a job are kept; older ones were replaced. */
const obtainedMax = 20

/** @param context the job; secrets that it saves are secret, too */
export function createShield<Context extends ConnectorContext>(
  context: Context,
): {
  readonly shield: Shield
  readonly context: Context
} {
  const saved = secretFields.map((key) => String(context.secrets[key] ?? '')).filter(Boolean)
  const obtained = new Set<string>()
  let remove: ((text: string) => string) | undefined
  const note = (secret: string) => {
    if (secret === '' || saved.includes(secret) || obtained.has(secret)) return
    obtained.add(secret)
    for (const oldest of obtained) if (obtained.size > obtainedMax) obtained.delete(oldest)
    remove = undefined
  }
  const clean = (text: string): string => {
    remove ??= createRemoval([...saved, ...obtained])
    return remove(text)
  }
  const noteHeaders = (headers: SignInHeaders): SignInHeaders => {
    for (const value of Object.values(headers)) {
      note(value)
      // Without the word before it, such as `Bearer`.
      note(value.slice(value.lastIndexOf(' ') + 1))
    }
    return headers
  }
  const cleaned = new WeakMap<Answer, Answer>()
  const shield: Shield = {
    answer(answer) {
      const known = cleaned.get(answer)
      if (known) return known
      const headers = new Headers()
      for (const [name, value] of answer.headers) if (!sessionHeaders.includes(name)) headers.append(name, clean(value))
      const json = withoutSecrets(structuredClone(answer.json), clean)
      const made = { ...answer, headers, json, text: clean(answer.text) }
      cleaned.set(answer, made)
      return made
    },
    content: (value) => withoutSecrets(value, clean),
    watch(credentials) {
      if (!credentials) return undefined
      const { headers, query, sign } = credentials
      if (query) noteHeaders(query)
      return {
        ...credentials,
        headers: async (refused) => noteHeaders(await headers(refused)),
        ...(sign && { sign: (method: string, url: string) => noteHeaders(sign(method, url)) }),
      }
    },
  }
  const saveSecret: ConnectorContext['saveSecret'] = async (key, renew) => {
    const value = await context.saveSecret(key, async (current) => {
      note(current)
      const next = await renew(current)
      note(next)
      return next
    })
    note(value)
    return value
  }
  return { shield, context: { ...context, saveSecret } }
}

/** A value of JSON with `clean` applied to its texts, keys and numbers. Answers can be nested deeply, so nothing calls itself. */
function withoutSecrets(value: unknown, clean: (text: string) => string): unknown {
  const cleanOf = (one: unknown): unknown => {
    if (typeof one === 'string') return clean(one)
    if (typeof one !== 'number') return one
    return clean(String(one)) === String(one) ? one : redactedText
  }
  if (typeof value !== 'object' || value === null) return cleanOf(value)
  const left: object[] = [value]
  for (let at = left.pop(); at !== undefined; at = left.pop()) {
    const holder = at as Record<string, unknown>
    const entries = Object.entries(holder)
    const hasSecretKey = !Array.isArray(at) && entries.some(([key]) => clean(key) !== key)
    for (const [key, one] of entries) {
      const now = cleanOf(one)
      if (typeof one === 'object' && one !== null) left.push(one)
      // In the order that it has, under a key without the secret.
      if (hasSecretKey) delete holder[key]
      if (hasSecretKey || now !== one) set(holder, hasSecretKey ? clean(key) : key, now)
    }
  }
  return value
}

const set = (holder: object, key: string, value: unknown) =>
  Object.defineProperty(holder, key, { value, enumerable: true, configurable: true, writable: true })
