import { getHeapStatistics } from 'node:v8'
import { UniqueValues } from '../rules/unique-values.ts'
import { DuplicateKeys } from './duplicate-keys.ts'
import { pause, Retries } from './retries.ts'
import { Session } from './session.ts'
import type { SessionDeps } from './session-deps.ts'

/** A runner has half of its memory as heap, which a transfer does not fill; keys may take almost as much. */
const keysPerHeap = 0.9

/**
 * Runs one transfer from its checkpoint to its end: read → map → batch → deliver → confirm.
 * Resolves once everything is delivered, confirmed and visible. Throws `Ended` where the supervisor ends it, a `ConnectorError`
 * where a side of the connection is to blame, and whatever else is a defect.
 */
export async function runTransfer(deps: Omit<SessionDeps, 'retries' | 'unique' | 'keys'>): Promise<void> {
  const retries = new Retries(deps.job.retry)
  const unique = new UniqueValues()
  const keys = new DuplicateKeys(getHeapStatistics().heap_size_limit * keysPerHeap)
  // If loading fails here, it fails again at the first use, which reports it.
  for (const slug of deps.job.connectors) deps.runtime.loadConnector(slug).catch(() => {})
  for (;;) {
    const session = await Session.open({ ...deps, retries, unique, keys })
    const waitMs = await session.run()
    if (waitMs === undefined) return
    await pause(waitMs, deps.signal)
  }
}
