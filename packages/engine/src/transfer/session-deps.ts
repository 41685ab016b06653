import type { TransferHost, TransferJob } from '../protocol.ts'
import type { JobRuntime } from '../runtime.ts'
import type { Retries } from './retries.ts'
import type { RunnerMemory } from './stages/runner-memory.ts'

/** Dependencies of a session. */
export type SessionDeps = {
  readonly job: TransferJob
  readonly runtime: JobRuntime
  readonly host: TransferHost
  readonly retries: Retries
  /** The memory of stages between sessions. */
  readonly memory: RunnerMemory
  /** Aborted with `Ended` when the transfer must end. */
  readonly signal: AbortSignal
  /** Called whenever something moved: a chunk was read, a batch was delivered. */
  readonly onProgress: () => void
}
