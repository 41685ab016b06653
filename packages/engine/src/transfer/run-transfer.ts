import { pause, Retries } from './retries.ts'
import { Session } from './session.ts'
import type { SessionDeps } from './session-deps.ts'
import { RunnerMemory } from './stages/runner-memory.ts'

/**
 * Runs one transfer from its checkpoint to its end: read → map → batch → deliver → confirm. Resolves after everything is
 * delivered, confirmed and visible. Throws `Ended` if the supervisor ends it, a `ConnectorError` if a side of the connection
 * caused an error, and any other error for a defect.
 */
export async function runTransfer(deps: Omit<SessionDeps, 'retries' | 'memory'>): Promise<void> {
  const retries = new Retries(deps.job.retry)
  const memory = new RunnerMemory()
  // If loading fails here, it fails again at the first use, which reports it.
  for (const slug of deps.job.connectors) deps.runtime.loadConnector(slug).catch(() => {})
  for (;;) {
    const session = await Session.open({ ...deps, retries, memory })
    const waitMs = await session.run()
    if (waitMs === undefined) return
    await pause(waitMs, deps.signal)
  }
}
