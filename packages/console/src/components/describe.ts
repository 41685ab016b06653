import { NoAnswerError, PenstockError } from '@penstock/client'
import { components } from '../strings/components.ts'

/** Describes an error. The service's own messages say what to do, so they are shown unchanged. */
export function describe(error: unknown): {
  title: string
  help: string | undefined
  details: readonly { field: string; message: string }[]
  requestId: string | undefined
} {
  if (error instanceof PenstockError) {
    const { message, details, requestId, retryAfterSeconds } = error
    const help = retryAfterSeconds === undefined ? undefined : components.retryAfter(retryAfterSeconds)
    return { title: message, help, details, requestId }
  }
  if (error instanceof NoAnswerError) {
    return { title: components.unreachable, help: components.unreachableHelp, details: [], requestId: undefined }
  }
  const help = error instanceof Error ? error.message : String(error)
  return { title: components.unknownFailure, help, details: [], requestId: undefined }
}
