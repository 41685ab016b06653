import { Outcome, readWhole, retryAfterMs } from '@penstock/connector'

/** Reading the answers of object stores. */

/**
 * The text of an answer; throws `failed` where it is larger than any that these stores give.
 * @param bytesMax how large that is; 16 MiB unless said otherwise
 */
export const textOf = async (response: Response, bytesMax?: number): Promise<string> =>
  (await readWhole(response, 'The store', bytesMax)).toString()

/** Gives back the connection of an answer whose body does not matter. */
export async function discard(response: Response): Promise<void> {
  await response.body?.cancel().catch(() => {})
}

/** Too many requests, and faults of the store's own: what passes, as an outcome; `undefined` for all else. */
export function passingTrouble(store: string, response: Response): Outcome | undefined {
  const { status } = response
  const afterMs = retryAfterMs(response)
  const wait = afterMs === undefined ? {} : { afterMs }
  if (status === 429 || status === 503) {
    return new Outcome('retry', 'too_many_requests', `${store} asks for fewer requests (status ${status}).`, wait)
  }
  if (status === 408 || status >= 500) {
    return new Outcome('retry', 'platform_fault', `${store} has trouble of its own (status ${status}).`, wait)
  }
  return undefined
}
