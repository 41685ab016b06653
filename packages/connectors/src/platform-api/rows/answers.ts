import type { Json } from '@penstock/connector'
import { type Answer, isSuccess } from '../call.ts'

/** Longer answers are about many rows, and say little about one. */
const lengthMax = 1_024

/**
 * The answer to a request as the answer for each of its rows: the ID of the request, counts, notices. `null` if it contains
 * nothing.
 */
export function answerAbout(answer: Answer): Json | null {
  const { json, text } = answer
  const isObject = typeof json === 'object' && json !== null
  return isSuccess(answer) && isObject && text.length <= lengthMax ? (json as Json) : null
}
