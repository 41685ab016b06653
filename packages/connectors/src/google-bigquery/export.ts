import {
  asConnectorError,
  type ConnectorContext,
  ConnectorError,
  type ExportPlace,
  type FileExporter,
  type HandoverTransfer,
} from '@penstock/connector'
import { encodeValue } from '../object-stores/place.ts'
import { isObject, type JsonObject, listIn, numberIn, objectIn, textIn } from '../platform-api/json.ts'
import { pollUntilDone } from '../platform-api/polling.ts'
import type { FieldType } from './cells.ts'
import { complaintIn, connectorErrorOfJob } from './errors.ts'
import { type BigQuery, broken, makeBigQuery, type Query } from './jobs.ts'
import { describe, sourceOf } from './plan.ts'

/** A job that failed is repeated under another ID, since BigQuery takes each ID once. */
const attemptsMax = 20
/** The job ends by its own timeout. */
const polling = { firstMs: 250, mostMs: 10_000, totalMs: Number.POSITIVE_INFINITY }
/** More than this, in bytes, BigQuery writes to several objects alone. */
const oneFileBytes = 900_000_000

const formats = { CSV: 'CSV', NDJSON: 'NEWLINE_DELIMITED_JSON', Parquet: 'PARQUET' } as const

/** Opens an exporter: has BigQuery examine the query. A query and an extract job, whose IDs follow from the transfer, do the rest. */
export async function openExporter(
  context: ConnectorContext & HandoverTransfer & { readonly place: ExportPlace },
): Promise<FileExporter | { readonly whyNot: string }> {
  const { place, transferId, settings, signal } = context
  const bigQuery = makeBigQuery(context)
  const { source, query } = sourceOf(settings)
  const fields = await describe(bigQuery, { source, query })
  const whyNot = unlike(fields, place)
  if (whyNot !== undefined) return { whyNot }
  const jobs = { bigQuery, projectId: query.projectId, transferId, signal }
  return {
    columns: fields.map(({ name }) => name),
    async export() {
      const run = await finished(jobs, 'query', queryOf(query, `select * from ${source}`), undefined)
      const rows = await countOf(jobs, run)
      const table = objectIn(objectIn(objectIn(run.job.configuration).query).destinationTable)
      const bytes = await bytesOf(bigQuery, table)
      const { job } = await finished(jobs, 'extract', extractOf(table, place, bytes > oneFileBytes), run.location)
      const counts = listIn(objectIn(objectIn(job.statistics).extract).destinationUriFileCounts)
      const files = counts.reduce<number>((sum, count) => sum + (numberIn(count) ?? 0), 0)
      if (files < 1) throw broken()
      return { rows, bytes, files }
    },
  }
}

/** Why the file of BigQuery would be another one than that of a worker, beyond the notation of times. */
function unlike(fields: readonly FieldType[], { format, binary }: ExportPlace): string | undefined {
  const nested = format === 'CSV' && fields.find(({ repeated, type }) => repeated || type === 'RECORD')
  if (nested) return `BigQuery writes no nested columns, such as ${nested.name}, to CSV`
  const bytes = format !== 'Parquet' && binary === 'Hexadecimal' && fields.find(({ type }) => type === 'BYTES')
  return bytes ? `BigQuery writes the bytes of ${bytes.name} in Base64 alone` : undefined
}

function queryOf(query: Omit<Query, 'text'>, text: string): object {
  const { dataset, maximumBytesBilled, timeoutMs } = query
  return {
    query: {
      query: text,
      useLegacySql: false,
      ...(dataset === undefined ? {} : { defaultDataset: dataset }),
      ...(maximumBytesBilled === undefined ? {} : { maximumBytesBilled: String(maximumBytesBilled) }),
    },
    labels: { tool: 'penstock' },
    jobTimeoutMs: String(timeoutMs),
  }
}

function extractOf(sourceTable: JsonObject, { bucket, name, extension, format, gzip }: ExportPlace, many: boolean) {
  // A name that was given without an ending gets one all the same.
  const ending = name.endsWith(`.${extension}`) ? `.${extension}` : ''
  const object = many ? `${name.slice(0, name.length - ending.length)}-*${ending}` : name
  return {
    extract: {
      sourceTable,
      destinationUris: [`gs://${bucket}/${object}`],
      destinationFormat: formats[format],
      compression: gzip ? 'GZIP' : format === 'Parquet' ? 'SNAPPY' : 'NONE',
      ...(format === 'CSV' ? { fieldDelimiter: ',', printHeader: true } : {}),
    },
    labels: { tool: 'penstock' },
  }
}

type Jobs = {
  readonly bigQuery: BigQuery
  readonly projectId: string
  readonly transferId: string
  readonly signal: AbortSignal
}
type Finished = { readonly id: string; readonly location: string | undefined; readonly job: JsonObject }

/** Runs a job, unless an earlier attempt of the transfer has begun it, and waits for its end. */
async function finished(
  { bigQuery, projectId, transferId, signal }: Jobs,
  what: 'query' | 'extract',
  configuration: object,
  location: string | undefined,
): Promise<Finished> {
  const path = `${encodeValue(projectId)}/jobs`
  for (let attempt = 0; attempt < attemptsMax; attempt++) {
    const id = `penstock_${transferId}_${what}_${attempt}`
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
    if (!existed) throw what === 'extract' ? notWritten(errorResult) : connectorErrorOfJob(errorResult)
  }
  throw new ConnectorError('platform_error', `BigQuery failed ${attemptsMax} jobs of this transfer.`)
}

/** How many rows the result of a query has. */
async function countOf({ bigQuery, projectId }: Jobs, { id, location }: Finished): Promise<number> {
  const search = new URLSearchParams({
    ...(location === undefined ? {} : { location }),
    startIndex: '0',
    maxResults: '0',
    timeoutMs: '20000',
    'formatOptions.useInt64Timestamp': 'true',
  })
  const { totalRows } = await bigQuery.ask(`${encodeValue(projectId)}/queries/${id}?${search}`, { job: true })
  const rows = numberIn(totalRows)
  if (rows === undefined || rows < 0) throw broken()
  return rows
}

/** How large the table of a result is. */
async function bytesOf(bigQuery: BigQuery, { projectId, datasetId, tableId }: JsonObject): Promise<number> {
  if (![projectId, datasetId, tableId].every((name) => typeof name === 'string')) throw broken()
  const path = `${encodeValue(String(projectId))}/datasets/${encodeValue(String(datasetId))}/tables/${encodeValue(String(tableId))}`
  const { numBytes } = await bigQuery.ask(path, {})
  const bytes = numberIn(numBytes)
  if (bytes === undefined || bytes < 0) throw broken()
  return bytes
}

/** BigQuery writes with the service account of the source, which a worker needs for reading alone. */
function notWritten(errorResult: unknown): ConnectorError {
  const known = connectorErrorOfJob(errorResult)
  const { reason } = complaintIn(errorResult)
  if (known.isTransient || !isObject(errorResult)) return known
  return new ConnectorError(
    reason === 'accessDenied' ? 'permission_denied' : known.code,
    `BigQuery cannot write to the bucket (${reason || 'without a reason'}). Check that it is there, and that the service account of the source may create, get and delete its objects.`,
  )
}
