import type { Fetch } from '@penstock/client'
import { secretMask } from '@penstock/wire'

/** The calls that the console made last, so that each can be repeated with curl. */

export type Call = {
  readonly id: number
  readonly method: string
  /** With its query. */
  readonly path: string
  /** JSON, without secrets. */
  readonly body: string | undefined
  /** Whether it sends a file. */
  readonly file: boolean
  /** Undefined while there is no answer. */
  readonly status: number | undefined
}

const callsMax = 50
let calls: readonly Call[] = []
let made = 0
const listeners = new Set<() => void>()

function change(next: readonly Call[]): void {
  calls = next
  for (const listener of listeners) listener()
}

/** For `useSyncExternalStore`. */
export const callStore = {
  subscribe(listener: () => void): () => void {
    listeners.add(listener)
    return () => listeners.delete(listener)
  },
  read: () => calls,
}

/** `fetch`, which notes what it sends. */
export const recordedFetch: Fetch = async (address, init) => {
  const { pathname, search } = new URL(address, window.location.origin)
  const id = ++made
  const body = typeof init.body === 'string' ? withoutSecrets(init.body) : undefined
  change([
    {
      id,
      method: init.method ?? 'GET',
      path: pathname + search,
      body,
      file: init.body instanceof Blob,
      status: undefined,
    },
    ...calls.slice(0, callsMax - 1),
  ])
  const response = await window.fetch(address, init)
  change(calls.map((call) => (call.id === id ? { ...call, status: response.status } : call)))
  return response
}

const secretKeys = new Set(['clientSecret', 'password', 'currentPassword', 'newPassword', 'token'])

/** Values of a connector's configuration may be secrets, as are passwords and the like: none is shown again. */
function withoutSecrets(text: string): string {
  const hidden = (value: unknown) => (value === null || value === '' ? value : secretMask)
  return JSON.stringify(JSON.parse(text), (key, value) => {
    if (secretKeys.has(key)) return hidden(value)
    if (key !== 'secretConfig' || typeof value !== 'object' || value === null) return value
    return Object.fromEntries(Object.entries(value).map(([name, one]) => [name, hidden(one)]))
  })
}

/** A line for a shell, in which `$TOKEN` is an access token. */
export function curlOf({ method, path, body, file }: Call, origin: string): string {
  const quote = (text: string) => `'${text.replaceAll("'", "'\\''")}'`
  return [
    `curl ${method === 'GET' ? '' : `-X ${method} `}${quote(origin + path)}`,
    '-H "Authorization: Bearer $TOKEN"',
    ...(body === undefined ? [] : ["-H 'Content-Type: application/json'", `-d ${quote(body)}`]),
    ...(file ? ["-H 'Content-Type: application/octet-stream'", '--data-binary @file'] : []),
  ].join(' \\\n  ')
}
