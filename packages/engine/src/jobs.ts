import { asConnectorError, type EventStreams, type Rejects, type Uploads } from '@penstock/connector'
import { runCheck } from './check.ts'
import {
  type DefectReport,
  Ended,
  type EventHost,
  type IdentityHost,
  type Job,
  type JobError,
  type JobResult,
  type JobValues,
  type PutHost,
  type RejectHost,
  type SecretHost,
  type TransferHost,
  type UploadHost,
} from './protocol.ts'
import type { JobRuntime, Runtime } from './runtime.ts'
import { SecretSaver } from './secret-saver.ts'
import { ConnectorDefect, sideOf } from './transfer/connector-calls.ts'
import { connectorLines } from './transfer/connector-lines.ts'
import { runTransfer } from './transfer/run-transfer.ts'
import { isUnloadable } from './unloadable.ts'

export { HostChannel } from './host-channel.ts'
export type { Runtime } from './runtime.ts'

/** Dependencies of a job, in addition to its description. */
export type JobDeps = {
  readonly runtime: Runtime
  /** Most jobs ask only for secrets, identity tokens, uploaded files, rejected records and events. */
  readonly host: TransferHost & SecretHost & IdentityHost & UploadHost & RejectHost & EventHost & Partial<PutHost>
  /** Aborted with `Ended` when the job must end. */
  readonly signal: AbortSignal
  readonly onProgress: () => void
}

/** Runs one job to its end. Never rejects: the result contains every error. */
export async function runJob<J extends Job>(job: J, deps: JobDeps): Promise<JobResult<J['kind']>> {
  const late = 'deadlineMs' in job ? AbortSignal.timeout(job.deadlineMs) : undefined
  const signal = late ? AbortSignal.any([deps.signal, late]) : deps.signal
  const secrets = new SecretSaver(deps.host)
  const { host } = deps
  const kept = { uploads: uploadsOf(host), rejects: rejectsOf(host), events: eventsOf(host) }
  const identityToken: IdentityHost['identityToken'] = (wanted) => host.identityToken(wanted)
  const runtime = { ...deps.runtime, ...kept, secrets, identityToken }
  try {
    return { ok: true, value: (await perform(job, { ...deps, runtime, signal })) as JobValues[J['kind']] }
  } catch (error) {
    return { ok: false, error: deps.signal.aborted ? { kind: 'ended' } : errorOf(error, late?.aborted ?? false) }
  } finally {
    await secrets.close()
  }
}

/** Uploaded files as connectors read them. */
const uploadsOf = (host: UploadHost): Uploads => ({
  find: (search, { size, offset }) => host.findUploads({ search, size, offset }),
  open: async (id) => (await host.openUpload(id)) ?? undefined,
  read: async (id, number) => {
    const bytes = await host.readUpload({ id, number })
    return bytes === null ? undefined : Buffer.from(bytes, 'base64')
  },
})

/** Rejected records as connectors read them. */
const rejectsOf = (host: RejectHost): Rejects => ({
  connections: (search, { size, offset }) => host.findRejecting({ search, size, offset }),
  read: async (connection, after) => (await host.readRejected({ connection, after })) ?? undefined,
})

/** Events as connectors read them. */
const eventsOf = (host: EventHost): EventStreams => {
  const opened = (batches: Awaited<ReturnType<EventHost['readEvents']>>) =>
    batches.map(({ first, count, lines }) => ({ first, count, lines: Buffer.from(lines, 'base64') }))
  return {
    open: (start) => host.openStream(start),
    read: async (after) => opened(await host.readEvents(after)),
    newest: async () => opened(await host.readEvents(null)),
  }
}

async function perform(
  job: Job,
  { runtime, host, signal, onProgress }: JobDeps & { readonly runtime: JobRuntime },
): Promise<unknown> {
  switch (job.kind) {
    case 'check':
      return runCheck(job, runtime, signal)
    case 'discovery':
      return (await import('./discover.ts')).runDiscovery(job, runtime, signal)
    case 'ask':
      return (await import('./ask.ts')).runAsk(job, runtime, signal)
    case 'erase':
      return (await import('./erase.ts')).runErase(job, runtime, signal)
    case 'try':
      return (await import('./try.ts')).runTry(job, runtime, signal)
    case 'preview':
      return (await import('./preview.ts')).runPreview(job, runtime, signal)
    case 'authorization':
      return (await import('./authorize.ts')).runAuthorization(job, runtime, signal)
    case 'single sign-on':
      return (await import('./single-sign-on.ts')).runSingleSignOn(job, runtime, signal)
    case 'transfer':
      await runTransfer({ job, runtime: { ...runtime, log: connectorLines(host) }, host, signal, onProgress })
      return null
    case 'measure log':
      return (await import('./change-log.ts')).runMeasureLog(job, runtime, signal)
    case 'measure audiences':
      return (await import('./measure-audiences.ts')).runMeasureAudiences(job, runtime, signal)
    case 'drop slot':
      return (await import('./change-log.ts')).runDropSlot(job, runtime, signal)
    case 'put events':
      return (await import('./put-events.ts')).runPutEvents(job, runtime, host, signal)
    case 'ping':
      return null
  }
}

function errorOf(error: unknown, isLate: boolean): JobError {
  const connectorError = asConnectorError(error)
  if (connectorError) {
    const { code, message } = connectorError
    return { kind: 'connector', code, message, side: sideOf(error) }
  }
  if (isLate) return { kind: 'late' }
  if (error instanceof Ended) return { kind: 'ended' }
  if (isUnloadable(error)) return { kind: 'unloadable', report: describeDefect(error) }
  if (error instanceof ConnectorDefect) {
    return { kind: 'defect', isConnector: true, side: error.side, report: describeDefect(error.cause) }
  }
  return { kind: 'defect', isConnector: false, side: null, report: describeDefect(error) }
}

const framesMax = 20

/** An error without its message, which could quote a value of a row or a secret. */
export function describeDefect(error: unknown): DefectReport {
  if (!(error instanceof Error)) return { type: typeof error, stack: '' }
  const code = 'code' in error && typeof error.code === 'string' ? { code: error.code } : {}
  const frames = error.stack?.split('\n').filter((line) => line.startsWith('    at ')) ?? []
  return { type: error.name, ...code, stack: frames.slice(0, framesMax).join('\n') }
}
