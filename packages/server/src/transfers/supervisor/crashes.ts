import type { CrashCode } from '@penstock/wire'
import type { RunnerDeath, RunnerDied } from '../../runners/runner-process.ts'

/** How often a transfer is retried after its runner died, without a confirmed batch in between. */
export const crashRetriesMax = 3

/**
 * Retries of a transfer whose runner died for this reason. Data that needs too much memory needs it again at the same place: one
 * more attempt excludes a coincidence.
 */
export const crashRetriesOf = (reason: RunnerDeath): number => (reason === 'out_of_memory' ? 1 : crashRetriesMax)

/**
 * Message about a transfer whose runners died repeatedly.
 * @param progressMs how long a transfer may make no progress
 */
export function describeCrash(
  { reason, peakBytes }: RunnerDied,
  progressMs: number,
): { code: CrashCode; message: string } {
  const times = `${crashRetriesMax + 1} times without a batch confirmed in between`
  const code = crashCodes[reason]
  const messages: Readonly<Record<CrashCode, string>> = {
    out_of_memory: `The transfer needed more memory than a runner may use (PENSTOCK_RUNNER_MEMORY_MB; ${Math.round(peakBytes / 1024 ** 2)} MiB when it was stopped), twice at the same place: no batch was confirmed in between. Use smaller rows, files or row groups, or ask the operator for more memory; then activate the connection again.`,
    no_progress: `Nothing moved for ${Math.round(progressMs / 1000)} seconds (PENSTOCK_PROGRESS_SECONDS), or the connector stood still, ${times}. Check both sides, then activate the connection again.`,
    runner_crashed: `The process that ran the transfer ended unexpectedly, ${times}. Check what the source and the destination answer, then activate the connection again; if it persists, report the identifier of this transfer to your operator.`,
  }
  return { code, message: messages[code] }
}

/** The code of a transfer whose runner died, by how it died. */
export const crashCodes: Readonly<Record<RunnerDeath, CrashCode>> = {
  out_of_memory: 'out_of_memory',
  no_progress: 'no_progress',
  deadline: 'no_progress',
  not_ended: 'no_progress',
  runner_crashed: 'runner_crashed',
  // No transfer ends with it: it goes back to the queue.
  not_started: 'runner_crashed',
}
