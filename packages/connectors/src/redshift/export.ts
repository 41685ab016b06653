import {
  asConnectorError,
  type ConnectorContext,
  ConnectorError,
  type ExportPlace,
  type FileExporter,
  type HandoverTransfer,
} from '@penstock/connector'
import pg from 'pg'
import { placeOf, readingOf } from '../databases/settings.ts'
import { wait } from '../platform-api/client.ts'
import { isObject, listIn, numberIn, objectIn, textIn } from '../platform-api/json.ts'
import type { PostgresSession } from '../postgresql/session.ts'
import { oids, quoteName, type RedshiftField, typeNameOf } from './cells.ts'
import { copyRoleOf } from './copy.ts'
import { describe, sourceOf } from './plan.ts'
import { defaultPort, openRedshift } from './session.ts'

/** Time limit of an UNLOAD, in milliseconds. */
const unloadMs = 12 * 3_600_000
/** How often it is asked whether an UNLOAD of an earlier attempt has ended, in milliseconds. */
const [firstMs, mostMs] = [500, 10_000]

/**
 * Opens an exporter: has Redshift describe the rows. One UNLOAD writes them to a folder that only this transfer has, and at its end a
 * manifest with the files and their rows, by which another attempt finds out that it was done.
 */
export async function openExporter(
  context: ConnectorContext & HandoverTransfer & { readonly place: ExportPlace },
): Promise<FileExporter | { readonly whyNot: string }> {
  const { place, settings, secrets, transferId, attempt, signal } = context
  const reading = readingOf(settings, 'public')
  if (reading.cursor !== undefined) return { whyNot: 'the connection reads only rows that are new' }
  const role = copyRoleOf({ copyRoleArn: secrets.unloadRoleArn ?? '' })
  if (role === undefined) return { whyNot: 'the configuration of Redshift names no role that may write to a bucket' }
  const { read } = place
  if (!read) return { whyNot: 'the manifest of Redshift cannot be read in this store' }
  const source = sourceOf(reading)
  const database = placeOf(secrets, defaultPort)
  const fields = await within(context, database, (session) => session.guard(() => describe(session, source)))
  const whyNot = source.includes('$$') ? 'the query has two dollar signs in a row' : unlike(fields, place)
  if (whyNot !== undefined) return { whyNot }
  const ending = `.${place.extension}`
  const folder = `${place.name.endsWith(ending) ? place.name.slice(0, -ending.length) : place.name}/`
  const label = `penstock_${transferId}`

  const statementOf = (): string => {
    const select = `select ${fields.map((field) => `${selectedOf(field, place)} as ${quoteName(field.name)}`).join(', ')} from ${source}`
    const format = { CSV: 'csv header', NDJSON: 'json', Parquet: 'parquet' }[place.format]
    return [
      `unload ($$${select}$$) to '${literal(`s3://${place.bucket}/${folder}`)}' iam_role ${role}`,
      `format as ${format} manifest verbose`,
      ...(place.gzip ? ['gzip'] : []),
      ...(place.format === 'Parquet' ? [] : [`extension '${place.extension}'`]),
      ...(place.region === undefined ? [] : [`region '${literal(place.region)}'`]),
      // Removes the files of an attempt that was interrupted.
      ...(attempt > 1 ? ['cleanpath'] : []),
    ].join(' ')
  }

  return {
    columns: fields.map(({ name }) => name),
    async export() {
      const found = attempt > 1 ? await read(`${folder}manifest`) : undefined
      if (found) return countsIn(found)
      const written = await within(context, database, async (session) => {
        await session.guard(() => session.execute([`set query_group to '${label}'`]))
        if (attempt > 1) {
          await ended(session, label, signal)
          const later = await read(`${folder}manifest`)
          if (later) return later
        }
        await session.guard(() => unload(session, statementOf()), unloadMs)
        return read(`${folder}manifest`)
      })
      if (!written) throw new ConnectorError('unexpected_response', 'Redshift wrote no manifest of its files.')
      return countsIn(written)
    },
  }
}

async function within<T>(
  context: ConnectorContext,
  database: ReturnType<typeof placeOf>,
  work: (session: PostgresSession) => Promise<T>,
): Promise<T> {
  const session = await openRedshift(context, database)
  try {
    return await work(session)
  } finally {
    await session.close()
  }
}

/** Waits for an UNLOAD of a worker that was killed, because Redshift can still be running it. */
async function ended(session: PostgresSession, label: string, signal: AbortSignal): Promise<void> {
  const text = `select count(*) as running from sys_query_history where query_label = '${label}' and query_type = 'UNLOAD' and status in ('planning', 'queued', 'running', 'returning')`
  for (let waitMs = firstMs; ; waitMs = Math.min(mostMs, waitMs * 2)) {
    const [row] = await session.guard(() => session.rows(text, { running: 'integer' }))
    if (row?.running === 0) return
    await wait(waitMs, signal)
  }
}

/** Why Redshift's files would differ from a worker's file, apart from the notation of times and empty texts. */
function unlike(fields: readonly RedshiftField[], { format }: ExportPlace): string | undefined {
  const never: readonly number[] = [oids.varbyte, oids.geometry, oids.geography, oids.hllsketch, oids.super]
  const odd = fields.find(({ dataTypeID }) => never.includes(dataTypeID))
  if (odd) return `Redshift writes the column ${odd.name} of type ${typeNameOf(odd)} in another way`
  const inexact: readonly number[] = [oids.real, oids.double]
  const float = format !== 'Parquet' && fields.find(({ dataTypeID }) => inexact.includes(dataTypeID))
  return float
    ? `Redshift does not write all digits of ${float.name}, which has the type ${typeNameOf(float)}`
    : undefined
}

/** Redshift writes truth values as t and f to CSV. */
function selectedOf({ name, dataTypeID }: RedshiftField, { format }: ExportPlace): string {
  const column = quoteName(name)
  return dataTypeID === oids.boolean && format === 'CSV'
    ? `case when ${column} then 'true' when not ${column} then 'false' end`
    : column
}

/** A text between quotes. A backslash begins an escape sequence. */
const literal = (text: string): string => text.replace(/['\\]/g, '\\$&')

async function unload(session: PostgresSession, text: string): Promise<void> {
  try {
    await session.execute([text])
  } catch (error) {
    if (!(error instanceof pg.DatabaseError)) throw error
    if (
      /AccessDenied|Access Denied|Status 403|not authorized|Forbidden/i.test(`${error.message} ${error.detail ?? ''}`)
    ) {
      throw new ConnectorError(
        'permission_denied',
        'Redshift may not write to the bucket. Associate the role with the cluster or workgroup, and allow it s3:PutObject, s3:ListBucket and s3:DeleteObject there, or have the rows pass Penstock.',
      )
    }
    if (/PermanentRedirect|Status 301/i.test(error.message)) {
      throw new ConnectorError('invalid_address', 'The bucket is in another region than UNLOAD names. Set the region.')
    }
    throw session.problemOf(error)
  }
}

/** The counts in a manifest. Throws `unexpected_response` if it contains no counts. */
function countsIn(manifest: Buffer): { rows: number; bytes: number; files: number } {
  const entries = listIn(objectIn(jsonIn(manifest)).entries).filter(isObject)
  let [rows, bytes] = [0, 0]
  for (const { url, meta } of entries) {
    const [inFile, length] = [numberIn(objectIn(meta).record_count), numberIn(objectIn(meta).content_length)]
    if (textIn(url) === undefined || inFile === undefined || length === undefined || inFile < 0 || length < 0) {
      throw new ConnectorError('unexpected_response', 'The manifest of Redshift does not count the rows of its files.')
    }
    rows += inFile
    bytes += length
  }
  return { rows, bytes, files: entries.length }
}

function jsonIn(bytes: Buffer): unknown {
  try {
    return JSON.parse(bytes.toString('utf8'))
  } catch (error) {
    throw asConnectorError(error) ?? new ConnectorError('malformed_response', 'The manifest of Redshift is no JSON.')
  }
}
