import { NoAnswerError, PenstockError } from '@penstock/client'
import type { FieldChange } from './values.ts'

/** Someone else changed the resource after the plan was made, so it was not changed. */
export class ChangedMeanwhile extends Error {
  constructor(what: readonly FieldChange[]) {
    const fields = what.map(({ field }) => field).join(', ')
    super(
      `It was changed after the plan was made${fields ? ` (${fields})` : ''}, so apply did not change it. Plan again.`,
    )
  }
}

export const isRefused = (error: unknown, ...codes: string[]): error is PenstockError =>
  error instanceof PenstockError && codes.includes(error.code)

/** Why a call failed, in a sentence that no secret is in. */
export function sayRefusal(error: unknown): string {
  if (typeof error === 'string') return error
  if (error instanceof PenstockError) {
    const details = error.details.map(({ field, message }) => `${field} ${message}`).join('; ')
    return details ? `${error.message} ${details}` : error.message
  }
  if (error instanceof NoAnswerError || error instanceof ChangedMeanwhile) return error.message
  throw error
}
