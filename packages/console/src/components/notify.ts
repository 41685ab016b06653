import { components } from '../strings/components.ts'
import { describe } from './describe.ts'
import { showNotice } from './notices.ts'

const doneMs = 5_000
const nextMs = 8_000

/** Says that something was done; with `next`, how to take it back, or what else can be done now, which `label` says. */
export function notifyDone(message: string, next?: () => unknown, label = components.undo): void {
  const act = () => void Promise.resolve().then(next).catch(notifyFailure)
  showNotice({ kind: 'done', message, ...(next && { next: { label, act } }), closesAfterMs: next ? nextMs : doneMs })
}

/** Says what did not happen, and what to do, if that has no place of its own on the page. */
export function notifyProblem(title: string, message: string): void {
  showNotice({ kind: 'problem', title, message })
}

/** Says that something failed which has no place of its own on the page. */
export function notifyFailure(error: unknown): void {
  const { title, help, problems, requestId } = describe(error)
  const message = [help, ...problems, requestId && components.requestId(requestId)].filter(Boolean).join(' · ')
  showNotice({ kind: 'failure', title, message })
}

/** Reports how a write ended that has no place of its own on the page. @param done the notice if it succeeded */
export const notifyOutcome = <T>(work: Promise<T>, done: string | ((result: T) => string)): Promise<void> =>
  work.then((result) => notifyDone(typeof done === 'string' ? done : done(result))).catch(notifyFailure)
