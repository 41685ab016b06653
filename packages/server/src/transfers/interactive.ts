import type {
  AskJob,
  AuthorizationJob,
  CheckJob,
  DiscoveryJob,
  EraseJob,
  JobError,
  JobResult,
  PreviewJob,
  SingleSignOnJob,
  TryJob,
} from '@penstock/engine'
import type { Role, TransferErrorCode } from '@penstock/wire'
import { refuse } from '../refusal.ts'
import type { Runners } from '../runners/runner-pool.ts'
import { EndJob, RunnerDied } from '../runners/runner-process.ts'
import { TooManyWaiting, Turns } from '../runners/turns.ts'
import { answerJob, type JobHost } from './job-host.ts'

/** Checks, discoveries, requests, previews and authorizations: jobs that a caller waits for, run by turns so that no organization keeps the others waiting. */

type InteractiveJob =
  | AskJob
  | TryJob
  | EraseJob
  | CheckJob
  | DiscoveryJob
  | PreviewJob
  | AuthorizationJob
  | SingleSignOnJob

/** How long a runner may take beyond the deadline that it knows itself, and after its caller has gone. */
const graceMs = 2_000
/** More of one organization than this do not wait. */
const waitingMax = 20
const retryAfterSeconds = 5

export type InteractiveLimits = {
  /** At once, in this process. */
  readonly atOnce: number
  readonly perOrganization: number
}

/** Why a job did not succeed. */
export type InteractiveFailure = {
  readonly code: TransferErrorCode
  readonly message: string
  /**
   * The side that the error belongs to, `null` if it belongs to neither; by default, the side of the connector that was
   * called.
   */
  readonly side?: Role | null
}

export type InteractiveResult<J extends InteractiveJob> =
  | Extract<JobResult<J['kind']>, { ok: true }>
  | { readonly ok: false; readonly failure: InteractiveFailure }

/** The code of a job that failed. */
export const codeOf = (
  result: { readonly ok: true } | { readonly ok: false; readonly failure: InteractiveFailure } | undefined,
): TransferErrorCode | undefined => (result?.ok === false ? result.failure.code : undefined)

export type InteractiveJobs = ReturnType<typeof createInteractiveJobs>

export function createInteractiveJobs(runners: Runners, { atOnce, perOrganization }: InteractiveLimits) {
  const turns = new Turns(atOnce, perOrganization, waitingMax)
  return {
    /**
     * Runs a job once it has its turn.
     * @param signal aborted when the caller has gone
     * @param host answers what the job asks
     * @throws Refusal `rate_limited` where too many of the organization wait already
     */
    async run<J extends InteractiveJob>(
      job: J,
      { organizationId, id: accountId }: { organizationId: string; id: string },
      signal: AbortSignal,
      host: Pick<JobHost, 'answer' | 'close'>,
    ): Promise<InteractiveResult<J>> {
      const ending = new AbortController()
      /** Why the service could not answer the runner. */
      let failure: unknown
      const end = () => ending.abort(new EndJob(false, graceMs))
      signal.addEventListener('abort', end, { once: true })
      if (signal.aborted) end()
      try {
        const result = await turns.run(organizationId, ending.signal, () =>
          runners.run(job, {
            owner: accountId,
            watch: { deadlineMs: job.deadlineMs + graceMs },
            signal: ending.signal,
            answer: answerJob(host, (error) => {
              failure ??= error
            }),
          }),
        )
        if (failure) throw failure
        if (result.ok) return result as InteractiveResult<J>
        return { ok: false, failure: explain(result.error, job.deadlineMs) }
      } catch (error) {
        if (error instanceof TooManyWaiting) return refuse('rate_limited', [], retryAfterSeconds)
        if (error instanceof RunnerDied && !failure) return { ok: false, failure: explainDeath(error, job.deadlineMs) }
        throw failure ?? error
      } finally {
        signal.removeEventListener('abort', end)
        await host.close()
      }
    },
  }
}

function explain(error: JobError, deadlineMs: number): InteractiveFailure {
  switch (error.kind) {
    case 'connector':
      return { code: error.code, message: error.message, ...(error.side ? { side: error.side } : {}) }
    case 'unloadable':
      return cannotStart
    case 'late':
    case 'ended':
      return tooLate(deadlineMs)
    case 'defect':
      return {
        code: 'connector_failed',
        ...(error.side ? { side: error.side } : {}),
        message:
          'The connector failed on the response of the other side. Check the address, and that the other side is what the connector expects, then try again.',
      }
  }
}

function explainDeath({ reason }: RunnerDied, deadlineMs: number): InteractiveFailure {
  switch (reason) {
    case 'out_of_memory':
      return {
        code: 'out_of_memory',
        side: null,
        message:
          'The response of the other side needs more memory than a runner may use (PENSTOCK_RUNNER_MEMORY_MB). Use smaller rows or files, or ask the operator for more.',
      }
    case 'no_progress':
    case 'deadline':
    case 'not_ended':
      return tooLate(deadlineMs)
    case 'not_started':
      return cannotStart
    case 'runner_crashed':
      return {
        code: 'runner_crashed',
        side: null,
        message:
          'The process that ran this ended unexpectedly on the response of the other side. Check the address, and that the other side is what the connector expects, then try again.',
      }
  }
}

const cannotStart: InteractiveFailure = {
  code: 'runner_crashed',
  side: null,
  message:
    'Penstock could not start a process for this, or could not load its code. Try again in a minute; if it persists, ask your operator to look at the log and to restart Penstock.',
}

const tooLate = (deadlineMs: number): InteractiveFailure => ({
  code: 'timeout',
  message: `It did not answer within ${deadlineMs / 1000} seconds: check the address, or try again later.`,
})
