import { Outcome, retryAfterMs } from '@penstock/connector'

/** Reading the answers of object stores. */

/** A page of a listing has at most 5,000 names of at most 1,024 characters; nothing else is nearly as large. */
const textBytesMax = 32 << 20

/**
 * The text of an answer; throws `failed` where it is larger than any that these stores give.
 * @param bytesMax how large that is
 */
export async function textOf(response: Response, bytesMax = textBytesMax): Promise<string> {
  if (!response.body) return ''
  const pieces: Uint8Array[] = []
  let bytes = 0
  for await (const piece of response.body) {
    bytes += piece.length
    if (bytes > bytesMax) {
      throw new Outcome('failed', 'answer_too_large', 'The answer is larger than any that the store should give.')
    }
    pieces.push(piece)
  }
  return Buffer.concat(pieces).toString()
}

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
