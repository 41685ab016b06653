import {
  type ConnectorContext,
  ConnectorError,
  type ExportPlace,
  type FileExporter,
  type HandoverTransfer,
} from '@penstock/connector'
import { encodeValue } from '../object-stores/place.ts'
import { isObject, type JsonObject, listIn, numberIn, objectIn } from '../platform-api/json.ts'
import type { FieldType } from './cells.ts'
import { complaintIn, connectorErrorOfJob } from './errors.ts'
import { type FinishedJob, finishedJob, type Jobs } from './finished-job.ts'
import { type BigQuery, broken, makeBigQuery, type Query } from './jobs.ts'
import { describe, sourceOf } from './plan.ts'

/** Above this size, in bytes, BigQuery can only write to several objects. */
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
  const jobs = { bigQuery, projectId: query.projectId, signal }
  const idOf = (what: 'query' | 'extract') => `penstock_${transferId}_${what}`
  return {
    columns: fields.map(({ name }) => name),
    async export() {
      const run = await finishedJob(jobs, {
        id: idOf('query'),
        configuration: queryOf(query, `select * from ${source}`),
        location: undefined,
      })
      const rows = await countOf(jobs, run)
      const table = objectIn(objectIn(objectIn(run.job.configuration).query).destinationTable)
      const bytes = await bytesOf(bigQuery, table)
      const { job } = await finishedJob(jobs, {
        id: idOf('extract'),
        configuration: extractOf(table, place, bytes > oneFileBytes),
        location: run.location,
        errorOf: notWritten,
      })
      const counts = listIn(objectIn(objectIn(job.statistics).extract).destinationUriFileCounts)
      const files = counts.reduce<number>((sum, count) => sum + (numberIn(count) ?? 0), 0)
      if (files < 1) throw broken()
      return { rows, bytes, files }
    },
  }
}

/** Why BigQuery's file would differ from a worker's file, apart from the notation of times. */
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
  // A name without an extension still gets one.
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

/** How many rows the result of a query has. */
async function countOf({ bigQuery, projectId }: Jobs, { id, location }: FinishedJob): Promise<number> {
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

/** BigQuery writes with the service account of the source, which a worker needs only for reading. */
function notWritten(errorResult: unknown): ConnectorError {
  const known = connectorErrorOfJob(errorResult)
  const { reason } = complaintIn(errorResult)
  if (known.isTransient || !isObject(errorResult)) return known
  return new ConnectorError(
    reason === 'accessDenied' ? 'permission_denied' : known.code,
    `BigQuery cannot write to the bucket (${reason || 'without a reason'}). Check that it is there, and that the service account of the source may create, get and delete its objects.`,
  )
}
