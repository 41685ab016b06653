import { asConnectorError, ConnectorError } from '@penstock/connector'
import { encodeValue } from '../object-stores/place.ts'
import { type JsonObject, listIn, objectIn, textIn } from '../platform-api/json.ts'
import { pollUntilDone } from '../platform-api/polling.ts'
import { type BigQueryComplaint, complaintIn, connectorErrorOfJob } from './errors.ts'
import type { BigQuery } from './jobs.ts'

/** Work that is done once, however often it is requested: a job whose ID identifies its work. */
export type Once = {
  readonly projectId: string
  /** The location of the data, if BigQuery reports it. */
  readonly location: string | undefined
  /** The same for the same work. */
  readonly id: string
  readonly configuration: object
  /** Rows to load. */
  readonly upload?: string
  readonly signal: AbortSignal
}

/** Why a load took no row: BigQuery's own report of rows that it cannot read. */
export type LoadRefusal = readonly BigQueryComplaint[]

/** More attempts of the same work are not made. */
const attemptsMax = 100
/** A job that waits longer is waited for again by the next attempt of the transfer. */
const polling = { firstMs: 250, mostMs: 4_000, totalMs: 20 * 60_000 }

/**
 * Runs a job, unless it already ran. A failed job is repeated under another ID, because BigQuery accepts each ID once, and
 * because a failed job changes nothing. Resolves with a load's report about rows that it cannot read, or with undefined after
 * success.
 */
export async function runOnce(bigQuery: BigQuery, once: Once): Promise<LoadRefusal | undefined> {
  const { projectId, location, configuration, upload } = once
  for (let attempt = 0; attempt < attemptsMax; attempt++) {
    const jobId = `penstock_${once.id}_${attempt}`
    const jobReference = { projectId, jobId, ...(location === undefined ? {} : { location }) }
    const existed = await submit(bigQuery, projectId, { body: { jobReference, configuration }, upload })
    const status = await resultOf(bigQuery, once, jobId)
    if (status.errorResult === undefined) return undefined
    const complaint = complaintIn(status.errorResult)
    if (upload !== undefined && complaint.reason === 'invalid') {
      return [complaint, ...listIn(status.errors).slice(0, 1000).map(complaintIn)]
    }
    if (!existed) throw connectorErrorOfJob(status.errorResult)
  }
  throw new ConnectorError('platform_error', `BigQuery failed ${attemptsMax} jobs with the same rows.`)
}

/** Whether the job existed before. */
async function submit(
  bigQuery: BigQuery,
  projectId: string,
  { body, upload }: { readonly body: object; readonly upload: string | undefined },
): Promise<boolean> {
  const path = `${encodeValue(projectId)}/jobs${upload === undefined ? '' : '?uploadType=multipart'}`
  const asked = { body, ...(upload === undefined ? {} : { upload }) }
  let answer: JsonObject
  try {
    answer = await bigQuery.ask(path, asked)
  } catch (error) {
    if (asConnectorError(error)?.code !== 'connection_lost') throw error
    answer = await bigQuery.ask(path, asked)
  }
  return answer.jobReference === undefined
}

async function resultOf(bigQuery: BigQuery, { projectId, location, signal }: Once, jobId: string): Promise<JsonObject> {
  const where = location === undefined ? '' : `?location=${encodeValue(location)}`
  const path = `${encodeValue(projectId)}/jobs/${encodeValue(jobId)}${where}`
  const look = async (): Promise<JsonObject | undefined> => {
    const { status, jobReference } = await bigQuery.ask(path, { job: true })
    const state = textIn(objectIn(status).state)
    if (objectIn(jobReference).jobId !== jobId || state === undefined) {
      throw new ConnectorError('malformed_response', 'BigQuery did not describe the job that was asked for.')
    }
    return state === 'DONE' ? objectIn(status) : undefined
  }
  return pollUntilDone('The job', look, { ...polling, signal })
}
