import { randomBytes } from 'node:crypto'
import {
  asConnectorError,
  type Egress,
  readWhole,
  type Trial,
  type TrialContext,
  type TriedRequest,
} from '@penstock/connector'
import { open } from './deliver.ts'

/** Requests that are shown, at most. */
const exchangesMax = 20
/** Characters of all answers; of the answers beyond it, only the beginning is kept. */
const lengthMax = 16 << 20
const cutLength = 2_000
/** Statuses whose answers have no body. */
const bodiless = new Set([204, 205, 304])

/** Delivers a few rows by an operation, and keeps the requests and their answers. Throws what is no connector error. */
export async function tryOperation(context: TrialContext): Promise<Trial> {
  const exchanges: TriedRequest[] = []
  const { columns, rows } = context
  try {
    const writer = await open({ ...context, egress: recording(context, exchanges) })
    try {
      const delivery = await writer.deliver({ key: randomBytes(16).toString('hex'), columns, rows, firstRow: 1 })
      return { exchanges, rejected: delivery.rejected ?? [] }
    } finally {
      await writer.close?.()
    }
  } catch (error) {
    const connectorError = asConnectorError(error)
    if (!connectorError) throw error
    return { exchanges, rejected: [], error: connectorError }
  }
}

/** An egress that keeps requests and answers, other than those that sign in. */
function recording({ egress, secrets }: TrialContext, exchanges: TriedRequest[]): Egress {
  const signIns = [secrets.tokenUrl, secrets.loginUrl].flatMap((url) =>
    URL.canParse(String(url)) ? [new URL(String(url)).href] : [],
  )
  let length = 0
  return {
    connect: (...asked) => egress.connect(...asked),
    async request(url, init) {
      const { href, host } = new URL(url)
      const startMs = performance.now()
      const answer = await egress.request(url, init)
      if (exchanges.length >= exchangesMax || signIns.some((one) => href.startsWith(one))) return answer
      const { body } = init ?? {}
      const sent =
        typeof body === 'string' ? body : body instanceof Uint8Array ? Buffer.from(body).toString('utf8') : ''
      const { status, headers } = answer
      const note = (text: string) => {
        length += text.length
        exchanges.push({
          request: { method: init?.method ?? 'GET', url: href, text: sent },
          // All answers together have a limit, as each has.
          answer: {
            status,
            headers,
            text: length > lengthMax ? text.slice(0, cutLength) : text,
            durationMs: performance.now() - startMs,
          },
        })
      }
      try {
        const bytes = await readWhole(answer, host)
        note(bytes.toString('utf8'))
        return new Response(bodiless.has(status) ? null : new Uint8Array(bytes), { status, headers })
      } catch (error) {
        note('')
        throw error
      }
    },
  }
}
