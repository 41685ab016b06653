import { gzipSync } from 'node:zlib'
import type { RedshiftServer } from './redshift-server.ts'
import { rewrite, type UnloadStatement } from './redshift-sql.ts'

type Refused = { readonly state: string; readonly message: string }

/**
 * Writes the rows of a query to a bucket, in a file for each of two slices, and a manifest with all counts after them, by the published rules
 * of UNLOAD. It refuses a folder with files unless it may empty it.
 * @returns the error; `undefined` if all is written
 */
export async function unload(
  { select, bucket, folder, role, format, gzip, extension, cleans }: UnloadStatement,
  { s3, query }: Pick<RedshiftServer, 's3' | 'query'>,
  clusterRole: string,
): Promise<Refused | undefined> {
  const failed = (message: string): Refused => ({ state: 'XX000', message })
  if (role !== 'default' && role !== `'${clusterRole}'`)
    return failed(`User is not authorized to assume IAM Role ${role}`)
  const there = await s3.names(bucket, folder).catch(() => undefined)
  if (!there) return failed('S3ServiceException:Access Denied,Status 403,Error AccessDenied')
  if (there.length > 0 && !cleans) return failed('Specified unload destination on S3 is not empty.')
  await s3.empty(bucket, folder)
  const rewritten = rewrite(select)
  if (!('sql' in rewritten)) return rewritten
  const rows = await query<{ line: string; names: string[]; cells: (string | null)[] }>(
    `select to_json(t)::text as line, array(select json_object_keys(to_json(t))) as names,
        array(select value from json_each_text(to_json(t))) as cells from (${rewritten.sql}) as t`,
  )
  const header = (rows[0]?.names ?? []).join(',')
  const entries: object[] = []
  for (const slice of [0, 1]) {
    const own = rows.filter((_, index) => index % 2 === slice)
    const lines =
      format === 'json' ? own.map(({ line }) => line) : [header, ...own.map(({ cells }) => cells.map(cellOf).join(','))]
    const text = Buffer.from(lines.map((line) => `${line}\n`).join(''))
    const bytes = gzip ? gzipSync(text) : text
    const key = `${folder}000${slice}_part_00.${extension}`
    await s3.put(bucket, key, bytes)
    entries.push({ url: `s3://${bucket}/${key}`, meta: { content_length: bytes.length, record_count: own.length } })
  }
  await s3.put(bucket, `${folder}manifest`, JSON.stringify({ entries, meta: { record_count: rows.length } }))
  return undefined
}

function cellOf(text: string | null): string {
  if (text === null) return ''
  return /[",\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text
}
