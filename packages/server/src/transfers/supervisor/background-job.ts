import type { Values } from '@penstock/connector'
import type { CheckJob, DropSlotJob, JobResult, MeasureAudiencesJob, MeasureLogJob, OpenedSide } from '@penstock/engine'
import { EndJob } from '../../runners/runner-process.ts'
import { withPresentSecrets } from '../../secret-managers/outdated.ts'
import { answerJob, JobHost } from '../job-host.ts'
import { type ConfiguredSide, openSide } from '../sides.ts'
import type { SupervisorDeps } from './deps.ts'

const timeoutMs = 60_000
const graceMs = 5_000

/** The part of every job that is the same. */
export type JobOf = { readonly connector: OpenedSide; readonly deadlineMs: number }

type Deps = Pick<SupervisorDeps, 'database' | 'keyring' | 'secretManagers' | 'identityTokens' | 'runners'>

type BackgroundJob = CheckJob | MeasureLogJob | DropSlotJob | MeasureAudiencesJob

/**
 * Runs a job for which nobody waits, within a minute. It has separate runners, so that no transfer of the sub-account
 * waits for it. Rejects if the runner dies, and as `openSide` does.
 * @param about whose runners these are: `probes`
 * @param jobOf makes the job of the opened side
 * @param settings of the connection
 */
export const runBackgroundJob = <J extends BackgroundJob>(
  deps: Deps,
  side: ConfiguredSide,
  about: string,
  jobOf: (of: JobOf) => J,
  stopping: AbortSignal,
  settings?: Values,
): Promise<JobResult<J['kind']>> =>
  withPresentSecrets(
    deps.secretManagers,
    (secretManagers) => runOnce({ ...deps, secretManagers }, side, about, jobOf, stopping, settings),
    (result) => (!result.ok && result.error.kind === 'connector' ? result.error.code : undefined),
  )

async function runOnce<J extends BackgroundJob>(
  deps: Deps,
  side: ConfiguredSide,
  about: string,
  jobOf: (of: JobOf) => J,
  stopping: AbortSignal,
  settings?: Values,
): Promise<JobResult<J['kind']>> {
  const ending = new AbortController()
  const host = new JobHost(deps, [side])
  const end = () => ending.abort(new EndJob(false, graceMs))
  stopping.addEventListener('abort', end, { once: true })
  try {
    const connector = await openSide(deps, side, { job: about }, settings)
    return await deps.runners.run(jobOf({ connector, deadlineMs: timeoutMs }), {
      owner: `${about} of ${side.accountId}`,
      watch: { deadlineMs: timeoutMs + graceMs },
      signal: ending.signal,
      answer: answerJob(host),
    })
  } finally {
    stopping.removeEventListener('abort', end)
    await host.close()
  }
}
