import { asConnectorError, ConnectorError, type Redact, readWhole, retryAfterMs } from '@penstock/connector'

/** Reading the answers of object stores. */

/**
 * The text of a response. Throws `response_too_large` if it is larger than any response of these stores.
 * @param bytesMax the largest size; by default 16 MiB
 */
export const textOf = async (response: Response, bytesMax?: number): Promise<string> =>
  (await readWhole(response, 'The store', bytesMax)).toString()

/** Gives back the connection of an answer whose body does not matter. */
export async function discard(response: Response): Promise<void> {
  await response.body?.cancel().catch(() => {})
}

/** An error response usually has a few hundred bytes. */
const errorBytesMax = 256 << 10

/** The body of an error response; empty if it cannot be read, so that only the status is known. */
export async function errorTextOf(response: Response): Promise<string> {
  try {
    return await textOf(response, errorBytesMax)
  } catch (error) {
    if (asConnectorError(error)) return ''
    throw error
  }
}

/**
 * The name that a store gives to an error, safe for a message; empty if it is no name. An endpoint outside our control
 * could respond with a secret from the request.
 */
export const problemName = (name: string, redact: Redact): string =>
  /^[A-Za-z][\w.-]{0,80}$/.test(name) && redact(name) === name ? name : ''

/** Too many requests, and errors of the store's own: transient errors; `undefined` for all else. */
export function transientErrorOf(store: string, response: Response): ConnectorError | undefined {
  const { status } = response
  const wait = { afterMs: retryAfterMs(response) }
  if (status === 429 || status === 503) {
    return new ConnectorError('rate_limited', `${store} limits the rate of requests (status ${status}).`, wait)
  }
  if (status === 408 || status >= 500) {
    return new ConnectorError('platform_error', `${store} reports an internal error (status ${status}).`, wait)
  }
  return undefined
}
