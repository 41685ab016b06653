import type { TransferHost, TransferJob } from '../protocol.ts'
import type { UniqueValues } from '../rules/unique-values.ts'
import type { JobRuntime } from '../runtime.ts'
import type { DuplicateKeys } from './duplicate-keys.ts'
import type { Retries } from './retries.ts'

/** Dependencies of a session. */
export type SessionDeps = {
  readonly job: TransferJob
  readonly runtime: JobRuntime
  readonly host: TransferHost
  readonly retries: Retries
  /** Values that the rules of the connection compare, of all sessions. */
  readonly unique: UniqueValues
  /** Keys by which duplicates are found, of all sessions. */
  readonly keys: DuplicateKeys
  /** Aborted with `Ended` when the transfer must end. */
  readonly signal: AbortSignal
  /** Called whenever something moved: a chunk was read, a batch was delivered. */
  readonly onProgress: () => void
}
