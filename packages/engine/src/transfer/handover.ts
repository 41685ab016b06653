import { createHash } from 'node:crypto'
import {
  asConnectorError,
  ConnectorError,
  type FileLoader,
  type Json,
  type LoadPart,
  type LoadReport,
} from '@penstock/connector'
import type { StoredFile } from '@penstock/connector/files'
import type { BatchStart, TransferJob, TransferState } from '../protocol.ts'
import type { SideSecrets } from '../side-secrets.ts'
import { nothingSkipped } from '../skipped.ts'
import type { Entry } from './confirmation.ts'
import { ofConnector } from './connector-calls.ts'
import { assertEnough } from './replace-guard.ts'
import type { ExportRoute, LoadRoute } from './route.ts'
import { whyValues } from './stages/stages.ts'

/**
 * A transfer whose destination loads the files itself, group after group. Files are staged, compared with the listing, committed
 * and confirmed. The checkpoint names the next group before it is loaded, so that another attempt loads the same files under the
 * same key.
 */

/** Maximum files that are loaded together, and their stored bytes; a single file can have more. */
const bounds = { files: 500, bytes: 4 * 2 ** 30 }
/** Maximum rejected rows of one group that are returned whole. */
const rejectsMax = 1_000
/** A platform at work is progress: its statements end by their own timeouts. */
const progressMs = 1_000

/** The progress of a handover, in the checkpoint of the transfer. */
type Standing = {
  /** The last file that is confirmed. */
  readonly done: string | null
  /** The last file of the next group, and a digest of the versions of its files; `null` at the end. */
  readonly next: { readonly to: string; readonly digest: string } | null
}

/** Reads the progress of a handover from a checkpoint; `undefined` if it is the checkpoint of a reader. */
export function standingIn(checkpoint: Json | null): Standing | undefined {
  const at = (checkpoint as { at?: { handover?: Standing } | null } | null)?.at
  return at?.handover
}

/** Dependencies of a handover. */
export type HandoverDeps = {
  readonly job: TransferJob
  /** Aborted when the transfer must end. */
  readonly signal: AbortSignal
  readonly onProgress: () => void
  readonly state: TransferState
  readonly replaces: boolean
  /** Announces a group. The first call also announces the columns. */
  begin(group: Pick<BatchStart, 'files' | 'exports'>): Promise<void>
  /** Stores the result of the destination, and the checkpoint. */
  confirm(entry: Entry, totalBytes: number): Promise<void>
}

/** Loads all files from the checkpoint on. Throws as a session does. */
export async function handOver(
  deps: HandoverDeps,
  route: LoadRoute,
  { loader, redact }: { loader: FileLoader; redact: SideSecrets['redact'] },
): Promise<void> {
  const { state, signal, onProgress, replaces } = deps
  const { files } = route.offer
  const total = bytesOf(files)
  const ofDestination = <T>(call: () => Promise<T>) => ofConnector(signal, { side: 'Destination', redact }, call)
  const alive = setInterval(onProgress, progressMs)
  try {
    let standing = standingIn(state.checkpoint)
    if (!standing) {
      standing = { done: null, next: nextOf(files, 0, replaces) }
      await deps.begin({ files: 0 })
      await deps.confirm(entryOf(undefined, standing, 0, redact), total)
    }
    for (let { next, done } = standing; next; ) {
      const from = files.findIndex(({ name }) => done === null || name > done)
      const to = files.findIndex(({ name }) => name === next?.to)
      const group = files.slice(from, to + 1)
      if (from < 0 || to < from || digestOf(group) !== next.digest) throw filesChanged()
      await deps.begin({ files: group.length })
      const key = createHash('sha256').update(`${deps.job.id}:${next.digest}`).digest('hex').slice(0, 32)
      const staged = { key, parts: partsOf(group, route) }
      const report = await stageAsListed(route, group, () =>
        ofDestination(() => loader.stage(staged, Math.min(rejectsMax, state.rejectsLeft))),
      )
      const rejected = report.rejected.reduce((sum, { count }) => sum + count, 0)
      if (rejected > report.rows) throw new Error('A destination rejected more records than it loaded')
      if (replaces && !state.confirmed) assertEnough(report.rows - rejected, state.replaced, deps.job.replaceShareMin)
      await ofDestination(() => loader.commit(staged))
      done = next.to
      next = nextOf(files, to + 1, replaces)
      await deps.confirm(
        entryOf(report, { done, next }, bytesOf(files.slice(0, to + 1)), redact, bytesOf(group)),
        total,
      )
    }
  } finally {
    clearInterval(alive)
    await loader.close()
  }
}

/** The only step of an export. */
const whole = { to: 'export', digest: '' }

/** Has the source write its files, unless they are confirmed. Throws as a session does. */
export async function handOverExport(deps: HandoverDeps, { exporter, redact }: ExportRoute): Promise<void> {
  const { state, signal, onProgress } = deps
  const alive = setInterval(onProgress, progressMs)
  try {
    const standing = standingIn(state.checkpoint)
    if (!standing) {
      await deps.begin({ files: 0 })
      await deps.confirm(entryOf(undefined, { done: null, next: whole }, 0, redact), 1)
    } else if (!standing.next) return
    await deps.begin({ exports: true })
    const { rows, bytes } = await ofConnector(signal, { side: 'Source', redact }, () => exporter.export())
    await deps.confirm(entryOf({ rows, rejected: [] }, { done: whole.to, next: null }, 1, redact, bytes), 1)
  } finally {
    clearInterval(alive)
  }
}

/** Throws `source_changed` if files changed after they were listed. */
async function stageAsListed(
  { offer }: LoadRoute,
  group: readonly StoredFile[],
  stage: () => Promise<LoadReport>,
): Promise<LoadReport> {
  let report: LoadReport
  try {
    report = await stage()
  } catch (error) {
    if (asConnectorError(error)?.isTransient === false && (await offer.changedOf(group).catch(() => undefined))) {
      throw filesChanged()
    }
    throw error
  }
  if (await offer.changedOf(group)) throw filesChanged()
  return report
}

/** The group that begins at an index. A replacement is one group, so that it is visible as a whole. */
function nextOf(files: readonly StoredFile[], from: number, replaces: boolean): Standing['next'] {
  let to = from
  for (let bytes = 0; to < files.length; to++) {
    bytes += files[to]?.sizeBytes ?? 0
    if (!replaces && to > from && (to - from >= bounds.files || bytes > bounds.bytes)) break
  }
  const group = files.slice(from, to)
  const last = group.at(-1)
  return last ? { to: last.name, digest: digestOf(group) } : null
}

const digestOf = (files: readonly StoredFile[]): string =>
  createHash('sha256')
    .update(JSON.stringify(files.map(({ name, sizeBytes, version }) => [name, sizeBytes, version])))
    .digest('hex')

const bytesOf = (files: readonly StoredFile[]): number => files.reduce((sum, { sizeBytes }) => sum + sizeBytes, 0)

/** Neighbours that are written alike. */
function partsOf(files: readonly StoredFile[], { formOf }: LoadRoute): LoadPart[] {
  const parts: { form: LoadPart['form']; files: StoredFile[] }[] = []
  for (const file of files) {
    const form = formOf(file)
    const last = parts.at(-1)
    if (last && JSON.stringify(last.form) === JSON.stringify(form)) last.files.push(file)
    else parts.push({ form, files: [file] })
  }
  return parts
}

/** The ledger entry of a group; without a group, only the checkpoint. */
function entryOf(
  report: LoadReport | undefined,
  handover: Standing,
  doneBytes: number,
  redact: SideSecrets['redact'],
  bytes = 0,
): Entry {
  const { rows = 0, rejected = [] } = report ?? {}
  return {
    read: rows,
    sent: rows,
    removed: 0,
    skipped: nothingSkipped,
    bytes,
    rejects: rejected.map(({ count, reason, field, record }) => ({
      row: null,
      count,
      field: field ?? null,
      reason: redact(reason),
      raw: record,
    })),
    end: { checkpoint: { at: { handover } as Json, skip: 0, bytes: doneBytes }, cursor: undefined },
    deliveryState: undefined,
    state: undefined,
  }
}

const filesChanged = (): ConnectorError =>
  new ConnectorError(
    'source_changed',
    'A file is gone or was replaced while the destination loaded it. Nothing of its group was kept: start a new transfer.',
    { side: 'Source' },
  )

/** Why a worker must move the rows, as the end of a sentence; `undefined` if no worker is necessary. */
export function whyNotHandedOver(state: TransferState): string | undefined {
  const { testRows, range } = state
  if (testRows !== null) return 'a test sends a few records'
  if (range) return 'a backfill reads a range'
  return whyValues(state)
}

/** A handover began, and its destination would have a worker continue now, which would send the same rows again. */
export const notContinued = (whyNot: string): ConnectorError =>
  new ConnectorError(
    'source_changed',
    `The platforms began to move the rows themselves and cannot continue, because ${whyNot}. Start a new transfer.`,
  )
