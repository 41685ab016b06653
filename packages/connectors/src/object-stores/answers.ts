import { asConnectorError, ConnectorError, type Redact, readWhole, retryAfterMs } from '@penstock/connector'

/** Reading the answers of object stores. */

/**
 * The text of a response. Throws `response_too_large` if it is larger than any response of these stores can be.
 * @param bytesMax the largest size; by default 16 MiB
 */
export const textOf = async (response: Response, bytesMax?: number): Promise<string> =>
  (await readWhole(response, 'The store', bytesMax)).toString()

/** Releases the connection of an answer whose body does not matter. */
export async function discard(response: Response): Promise<void> {
  await response.body?.cancel().catch(() => {})
}

/** An error response usually has a few hundred bytes. */
const errorBytesMax = 256 << 10

/** The body of an error response. Empty if it cannot be read, so that only the status is known. */
export async function errorTextOf(response: Response): Promise<string> {
  try {
    return await textOf(response, errorBytesMax)
  } catch (error) {
    if (asConnectorError(error)) return ''
    throw error
  }
}

/**
 * The name that a store returns for an error, safe for a message. Empty if it does not have the form of a name. An endpoint
 * outside our control could respond with a secret from the request.
 */
export const problemName = (name: string, redact: Redact): string =>
  /^[A-Za-z][\w.-]{0,80}$/.test(name) && redact(name) === name ? name : ''

/** Too many requests and the store's internal errors are transient errors. `undefined` for everything else. */
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
