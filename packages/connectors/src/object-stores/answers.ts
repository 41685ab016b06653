import { asConnectorError, ConnectorError, type Redact, readWhole, retryAfterMs } from '@penstock/connector'

/** Reading the answers of object stores. */

/**
 * The text of an answer; throws `response_too_large` where it is larger than any that these stores give.
 * @param bytesMax how large that is; 16 MiB unless said otherwise
 */
export const textOf = async (response: Response, bytesMax?: number): Promise<string> =>
  (await readWhole(response, 'The store', bytesMax)).toString()

/** Gives back the connection of an answer whose body does not matter. */
export async function discard(response: Response): Promise<void> {
  await response.body?.cancel().catch(() => {})
}

/** An error response usually has a few hundred bytes. */
const errorBytesMax = 256 << 10

/** The body of an error response; empty where it cannot be read, so that only the status is known. */
export async function errorTextOf(response: Response): Promise<string> {
  try {
    return await textOf(response, errorBytesMax)
  } catch (error) {
    if (asConnectorError(error)) return ''
    throw error
  }
}

/**
 * The name that a store gives to an error, safe for a message; empty where it is no name. What an endpoint outside our
 * control answers could be a secret that it was sent.
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
