import assert from 'node:assert/strict'
import { type Fetch, PenstockError } from '@penstock/client'

/** Requests and responses of a client of the service. */

/**
 * The real `fetch`, with a record of requests and responses. `meddle` can answer instead of the service, or act before its
 * answer.
 */
export function recorder(
  meddle: (address: string, nth: number, init: RequestInit) => Promise<Response | undefined> | undefined = () =>
    undefined,
) {
  const calls: string[] = []
  const record: Fetch = async (address, init) => {
    const line = `${init.method} ${address.slice(address.indexOf('/es/v2') + 6)}`
    const nth = calls.filter((call) => call.startsWith(line)).length
    calls.push(line)
    const reply = (await meddle(address, nth, init)) ?? (await fetch(address, init))
    calls[calls.lastIndexOf(line)] = `${line} ${reply.status}`
    return reply
  }
  return { calls, fetch: record }
}

/** The error that a call must reject with. */
export async function refusal(call: Promise<unknown>): Promise<PenstockError> {
  const error = await call.then(
    () => assert.fail('expected a refusal'),
    (thrown: unknown) => thrown,
  )
  assert(error instanceof PenstockError, String(error))
  return error
}
