import { NoAnswerError, PenstockError } from '@penstock/client'
import { definitionsRead } from '../api/definitions.ts'
import { components } from '../strings/components.ts'
import { failures } from '../strings/failures.ts'
import { problemsOf } from './problems.ts'

/** Describes an error in the words of the console: the service answers programs too, and names places in the request. */
export function describe(error: unknown): {
  title: string
  help: string | undefined
  /** Sentences about the values that are wrong. */
  problems: readonly string[]
  requestId: string | undefined
} {
  if (error instanceof PenstockError) {
    const { code, message, details, requestId, retryAfterSeconds } = error
    const help = retryAfterSeconds === undefined ? undefined : components.retryAfter(retryAfterSeconds)
    return { title: failures.message(code, message), help, problems: problemsOf(details, definitionsRead()), requestId }
  }
  if (error instanceof NoAnswerError) {
    return { title: components.unreachable, help: components.unreachableHelp, problems: [], requestId: undefined }
  }
  const help = error instanceof Error ? error.message : String(error)
  return { title: components.unknownFailure, help, problems: [], requestId: undefined }
}
