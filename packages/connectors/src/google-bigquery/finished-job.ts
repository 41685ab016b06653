import { asConnectorError, ConnectorError } from '@penstock/connector'
import { encodeValue } from '../object-stores/place.ts'
import { type JsonObject, objectIn, textIn } from '../platform-api/json.ts'
import { pollUntilDone } from '../platform-api/polling.ts'
import { connectorErrorOfJob } from './errors.ts'
import { type BigQuery, broken } from './jobs.ts'

/** A failed job is repeated under another ID, since BigQuery accepts each ID once. */
const attemptsMax = 20
/** The job ends by its own timeout. */
const polling = { firstMs: 250, mostMs: 10_000, totalMs: Number.POSITIVE_INFINITY }

/** The project of jobs, and the signal that ends the wait for them. */
export type Jobs = { readonly bigQuery: BigQuery; readonly projectId: string; readonly signal: AbortSignal }

/** A job without an error, as BigQuery describes it. */
export type FinishedJob = { readonly id: string; readonly location: string | undefined; readonly job: JsonObject }

/** A long job that is done once, however often it is requested. */
export type JobAsked = {
  /** The same for the same work. */
  readonly id: string
  readonly configuration: object
  /** The location of the data, if BigQuery reports it. */
  readonly location: string | undefined
  /** The meaning of an `errorResult`. By default its meaning for a query. */
  readonly errorOf?: (errorResult: unknown) => ConnectorError
}

/** Runs a job, unless an earlier attempt has begun it, and waits for its end. It is cancelled with the signal. Throws a `ConnectorError`. */
export async function finishedJob(
  { bigQuery, projectId, signal }: Jobs,
  { id: stem, configuration, location, errorOf = connectorErrorOfJob }: JobAsked,
): Promise<FinishedJob> {
  const path = `${encodeValue(projectId)}/jobs`
  for (let attempt = 0; attempt < attemptsMax; attempt++) {
    const id = `${stem}_${attempt}`
    const jobReference = { projectId, jobId: id, ...(location === undefined ? {} : { location }) }
    const body = { jobReference, configuration }
    const submitted = await bigQuery.ask(path, { body }).catch((error: unknown) => {
      if (asConnectorError(error)?.code !== 'connection_lost') throw error
      return bigQuery.ask(path, { body })
    })
    const existed = submitted.jobReference === undefined
    let where = textIn(objectIn(submitted.jobReference).location) ?? location
    const look = async (): Promise<JsonObject | undefined> => {
      const search = where === undefined ? '' : `?location=${encodeValue(where)}`
      const job = await bigQuery.ask(`${path}/${id}${search}`, { job: true })
      const reference = objectIn(job.jobReference)
      const state = textIn(objectIn(job.status).state)
      if (reference.jobId !== id || state === undefined) throw broken()
      where ??= textIn(reference.location)
      return state === 'DONE' ? job : undefined
    }
    let job: JsonObject
    try {
      job = await pollUntilDone('The job', look, { ...polling, signal })
    } catch (error) {
      if (signal.aborted) await bigQuery.cancel({ projectId, id, location: where })
      throw error
    }
    const { errorResult } = objectIn(job.status)
    if (errorResult === undefined) return { id, location: where, job }
    if (!existed) throw errorOf(errorResult)
  }
  throw new ConnectorError('platform_error', `BigQuery failed ${attemptsMax} jobs of this transfer.`)
}
