import { createHmac, timingSafeEqual } from 'node:crypto'

/**
 * Confirmation codes, each for one call with its arguments: only what was shown to the user can be done. Nothing is stored, so
 * every process accepts the codes of every other process. Nobody can forge a code, not even a text of a tenant that a model
 * obeys. It takes the key, which is the caller's token or the process's own key.
 */
export type Confirmations = {
  make(call: ConfirmedCall): Promise<{ code: string; expiresTime: number }>
  /** Whether the code is for this very call, and not too old. */
  isRight(code: unknown, call: ConfirmedCall): Promise<boolean>
}

export type ConfirmedCall = {
  readonly tool: string
  readonly parameters: Readonly<Record<string, unknown>>
  /** The ETag of the target. If the target has changed, it must be shown again. */
  readonly etag: string | undefined
}

const minutes = 10

/** The clock of confirmations, in Unix seconds: all processes that take each other's codes have the same. */
export type ConfirmationClock = () => number | Promise<number>

const ownClock: ConfirmationClock = () => Math.floor(Date.now() / 1000)

/** @param now the clock; by default the clock of this process, for processes that accept only their own codes */
export function createConfirmations(key: string | Buffer, now = ownClock): Confirmations {
  const mac = ({ tool, parameters, etag }: ConfirmedCall, expiresTime: number) =>
    createHmac('sha256', key)
      .update(JSON.stringify(['penstock mcp', tool, sorted(parameters), etag ?? null, expiresTime]))
      .digest('base64url')
      .slice(0, 22)
  return {
    make: async (call) => {
      const expiresTime = (await now()) + minutes * 60
      return { code: `${expiresTime}.${mac(call, expiresTime)}`, expiresTime }
    },
    isRight: async (code, call) => {
      const [, time, given = ''] = /^(\d{1,12})\.([\w-]{22})$/.exec(typeof code === 'string' ? code : '') ?? []
      const expiresTime = Number(time)
      if (!(expiresTime >= (await now()))) return false
      return timingSafeEqual(Buffer.from(mac(call, expiresTime)), Buffer.from(given))
    },
  }
}

/** The same value with its keys in order, as a list. A model can send the arguments in another order. */
function sorted(value: unknown): unknown {
  if (Array.isArray(value)) return ['array', ...value.map(sorted)]
  if (typeof value !== 'object' || value === null) return value
  return Object.entries(value)
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([key, inner]) => [key, sorted(inner)])
}
