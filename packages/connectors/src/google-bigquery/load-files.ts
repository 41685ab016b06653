import { ConnectorError, type LoadPart, type LoadRejection, type TableForm } from '@penstock/connector'
import { countOf } from '../kit/warehouse/loaded-rows.ts'
import { listIn, objectIn } from '../platform-api/json.ts'
import { complaintIn, connectorErrorOfJob } from './errors.ts'
import { finishedJob, type Jobs } from './finished-job.ts'

/** Maximum number of rows that a load skips: all. It is the largest value of the option. */
const badRecordsMax = 2 ** 31 - 1

/** The rows of a load, by its own report. */
export type LoadedFiles = {
  /** Rows that are in the staging table. */
  readonly loaded: number
  /** Rows that BigQuery cannot read, as far as its report lists them individually. Further rows are only counted. */
  readonly unread: readonly LoadRejection[]
}

/**
 * Loads files into a staging table of texts, once per ID. Rows that BigQuery cannot read are skipped and counted.
 * @param id the same for the same files and the same table
 */
export async function loadFiles(
  jobs: Jobs & { readonly location: string | undefined },
  { id, table, bucket }: { readonly id: string; readonly table: object; readonly bucket: string },
  { form, files }: LoadPart,
): Promise<LoadedFiles> {
  const configuration = {
    load: {
      sourceUris: files.map(({ name }) => `gs://${bucket}/${name}`),
      destinationTable: table,
      ...(form.types ? { sourceFormat: 'PARQUET' } : csvOptions(form)),
      createDisposition: 'CREATE_NEVER',
      writeDisposition: 'WRITE_APPEND',
    },
    labels: { tool: 'penstock' },
  }
  const { job } = await finishedJob(jobs, { id, configuration, location: jobs.location, errorOf: notLoaded })
  const { outputRows, badRecords = '0' } = objectIn(objectIn(job.statistics).load)
  const bad = countOf('BigQuery', badRecords)
  const unread: LoadRejection[] = []
  for (const each of listIn(objectIn(job.status).errors).map(complaintIn)) {
    // The rest of the file would be treated as one row.
    if (/missing close (double )?quote/i.test(each.message)) throw unclosed(each.message)
    if (unread.length < bad && isOfRow.test(each.message)) unread.push({ count: 1, reason: reasonOf(each.message) })
  }
  const others = bad - unread.length
  if (others > 0) unread.push({ count: others, reason: 'BigQuery cannot read the row.' })
  return { loaded: countOf('BigQuery', outputRows), unread }
}

const csvOptions = ({ delimiter }: TableForm) => ({
  sourceFormat: 'CSV',
  encoding: 'UTF-8',
  fieldDelimiter: delimiter,
  quote: '"',
  skipLeadingRows: 1,
  allowQuotedNewlines: true,
  allowJaggedRows: false,
  ignoreUnknownValues: false,
  preserveAsciiControlCharacters: true,
  maxBadRecords: badRecordsMax,
})

const otherWidth = /too many values in (line|row)|references column position \d+/i
const isOfRow = /\b(line|row)\b.*\bposition|\bline_number: \d/i

/** Why a row was skipped, without its values, which BigQuery's message can quote. */
function reasonOf(message: string): string {
  const [, line] = /\bline_number: (\d{1,15})\b/.exec(message) ?? []
  const name = fileIn(message)
  const place = line === undefined || name === undefined ? '' : ` (row ${line} of ${name})`
  return otherWidth.test(message)
    ? `The row has another number of values than the header${place}.`
    : `BigQuery cannot read the row${place}.`
}

const fileIn = (message: string): string | undefined => /\bFile: gs:\/\/(?:\S+\/)([^/\s]{1,300})/.exec(message)?.[1]

const unclosed = (message: string): ConnectorError =>
  new ConnectorError(
    'invalid_file',
    `A quote in ${fileIn(message) ?? 'a file'} is never closed, so that BigQuery cannot separate its rows. Write the file again.`,
  )

/** BigQuery reads with the service account of the destination, which a worker needs only for writing. */
function notLoaded(errorResult: unknown): ConnectorError {
  const known = connectorErrorOfJob(errorResult)
  if (known.isTransient) return known
  const { reason } = complaintIn(errorResult)
  if (reason === 'accessDenied') {
    return new ConnectorError(
      'permission_denied',
      'BigQuery cannot read the bucket (accessDenied). Grant the service account of the destination the role Storage Object Viewer on it, or have the rows pass Penstock.',
    )
  }
  if (reason === 'notFound') {
    return new ConnectorError('object_not_found', 'BigQuery does not find a file or the bucket (notFound).')
  }
  return new ConnectorError(
    'invalid_file',
    `BigQuery cannot load the files (${reason || 'without a reason'}). Check that each is whole, and that the bucket is in the location of the dataset, or have the rows pass Penstock.`,
  )
}
