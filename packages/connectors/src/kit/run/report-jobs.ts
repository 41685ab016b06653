import { asConnectorError, ConnectorError } from '@penstock/connector'
import type { Answer } from '../../platform-api/call.ts'
import { pollUntilDone } from '../../platform-api/polling.ts'
import type { FileReport, JobReport, ReportRequest } from '../report-facts.ts'
import type { ReportPiece, ReportPosition, ReportReading } from './report-reading.ts'

/** A report that is done. @param answer the answer with its state */
export type DoneReport = { readonly job: string; readonly answer: Answer }

/** How often a report is started again after it failed, and after the platform dropped it. */
const failedMax = 2
const droppedMax = 3
const jobBytesMax = 2_000

/**
 * Waits for a report, and resolves when it is done. If a position names a report, it waits for that report. Otherwise it starts
 * one and first yields a position without rows, so that the report is found again after a crash. Throws `platform_error` if the
 * platform cannot create it.
 */
export async function* finishReport(
  reading: ReportReading,
  form: JobReport | FileReport,
  to: ReportRequest,
  from: ReportPosition,
): AsyncGenerator<ReportPiece, DoneReport> {
  const { api } = reading
  let { job } = from
  let failed = 0
  let dropped = 0
  for (;;) {
    if (job === undefined) {
      job = await startReport(reading, form, to)
      yield { rows: [], bytes: 0, next: { job } }
    }
    const { state, answer } = await awaitReport(reading, form, to, job)
    if (state === 'done' && answer) return { job, answer }
    if (state === 'too large')
      throw new ConnectorError('response_too_large', `${api.name} reports that the report is too large.`)
    const isOver = state === 'failed' ? failed++ === failedMax : dropped++ === droppedMax
    if (isOver) {
      const days = to.from === to.to ? to.from : `${to.from} to ${to.to}`
      throw new ConnectorError(
        'platform_error',
        `${api.name} could not create the report of the account ${to.account} for ${days}.`,
      )
    }
    job = undefined
  }
}

async function startReport(
  { api, client }: ReportReading,
  form: JobReport | FileReport,
  to: ReportRequest,
): Promise<string> {
  const id =
    typeof form.start === 'function'
      ? form.started?.(await client.askObject({ method: 'POST', ...form.start(to) }))
      : await form.start.by(client, to)
  if (id !== undefined && id !== '' && Buffer.byteLength(id) <= jobBytesMax) return id
  throw new ConnectorError('malformed_response', `${api.name} did not return the ID of the report.`)
}

async function awaitReport(
  { api, client }: ReportReading,
  form: JobReport | FileReport,
  to: ReportRequest,
  job: string,
) {
  return await pollUntilDone(
    `The report of ${api.name}`,
    async () => {
      try {
        const answer = await client.askObject(form.state(job, to))
        const state = form.stateOf(answer, job, to)
        return state === 'running' ? undefined : { state, answer }
      } catch (error) {
        if (asConnectorError(error)?.code === 'object_not_found') return { state: 'gone' as const, answer: undefined }
        throw error
      }
    },
    { totalMs: form.totalMs, signal: to.context.signal },
  )
}
