import { gunzipSync } from 'node:zlib'
import type { OwnResult, RedshiftServer } from './redshift-server.ts'
import type { CopyStatement } from './redshift-sql.ts'
import type { S3Key } from './s3-signature.ts'

type Refused = { readonly state: string; readonly message: string }
type StageColumn = { readonly name: string; readonly type: string }
type LoadProblem = { readonly line: number; readonly column: string; readonly code: number }

const failed = (message: string): Refused => ({ state: 'XX000', message })

/**
 * Loads a file that a manifest names, all of it or nothing, as COPY does.
 * @param access the access keys and the role that may read the bucket
 * @param ask runs a statement in the session of the client
 * @returns the error; `undefined` if the file is loaded
 */
export async function loadCopy(
  { table, manifest, role, credentials }: CopyStatement,
  { s3, query, copyFailure, misloads }: RedshiftServer,
  access: { readonly keys: readonly S3Key[]; readonly role: string },
  ask: (text: string) => Promise<OwnResult>,
): Promise<Refused | undefined> {
  if (copyFailure !== undefined) return failed(copyFailure)
  const known = access.keys.map(
    ({ id, secret, token }) =>
      `aws_access_key_id=${id};aws_secret_access_key=${secret}${token === undefined ? '' : `;token=${token}`}`,
  )
  if (role !== undefined && role !== 'default' && role !== `'${access.role}'`) {
    return failed(
      `User arn:aws:redshift:us-east-1:123456789012:dbuser:c/u is not authorized to assume IAM Role ${role}`,
    )
  }
  if (role === undefined && !known.includes(credentials ?? '')) {
    return failed(
      'S3ServiceException:The AWS Access Key Id you provided does not exist,Status 403,Error InvalidAccessKeyId',
    )
  }
  const address = await addressIn(s3, manifest)
  const file = address === undefined ? undefined : await read(s3, address)
  if (address === undefined || !file)
    return failed('S3ServiceException:The specified key does not exist.,Status 404,Error NoSuchKey')
  const lines = gunzipSync(file).toString().split('\n')
  if (lines.pop() !== '') return failed('The file does not end with a line feed')
  const { rows, error } = await ask(
    `select attname, format_type(atttypid, atttypmod) from pg_attribute where attrelid = 'pg_temp.${table}'::regclass and attnum > 0 and not attisdropped order by attnum`,
  )
  if (error) return error
  const columns = rows.map(([name, type]): StageColumn => ({ name: name ?? '', type: type ?? '' }))
  const problem = lines
    .map((text, at) => tooLong(text, at + 1, columns) ?? misloadIn(misloads, text, at + 1))
    .find((each) => each !== undefined)
  if (!problem) {
    const inserted = await ask(insertOf(table, columns, lines))
    if (!inserted.error) return undefined
  }
  const noted = problem ?? (await invalidIn(query, columns, lines))
  if (!noted) return failed('Internal error: no load error was found')
  const values = [address, noted.line, noted.column, noted.code]
  // A test can take the table away.
  await query('insert into sys_load_error_detail values ($1, $2, $3, $4)', values).catch(() => {})
  return failed(`Load into table '${table}' failed.  Check 'sys_load_error_detail' system table for details.`)
}

async function read(s3: RedshiftServer['s3'], address: string): Promise<Buffer | undefined> {
  const [, bucket = '', name = ''] = /^s3:\/\/([^/]+)\/(.+)$/.exec(address) ?? []
  return s3.read(bucket, name).catch(() => undefined)
}

/** The one file that a manifest names. */
async function addressIn(s3: RedshiftServer['s3'], manifest: string): Promise<string | undefined> {
  const text = (await read(s3, manifest))?.toString()
  const { entries } = JSON.parse(text ?? '{"entries":[]}')
  const [entry] = entries
  return entries.length === 1 && entry.mandatory === true ? String(entry.url) : undefined
}

/** Lengths are in bytes, CHAR has characters of one byte, and no text has a zero. */
function tooLong(text: string, line: number, columns: readonly StageColumn[]): LoadProblem | undefined {
  const row: Record<string, unknown> = JSON.parse(text)
  for (const { name, type } of columns) {
    const value = row[name]
    if (typeof value !== 'string') continue
    const [, kind, length = '65535'] = /^(character(?: varying)?)(?:\((\d+)\))?$/.exec(type) ?? []
    if (kind === undefined) continue
    const bytes = Buffer.byteLength(value)
    if (value.includes('\0') || (kind === 'character' && bytes > value.length))
      return { line, column: name, code: 1220 }
    if (bytes > Number(length)) return { line, column: name, code: 1204 }
  }
  return undefined
}

function misloadIn(misloads: RedshiftServer['misloads'], text: string, line: number): LoadProblem | undefined {
  const found = misloads?.(JSON.parse(text))
  return found && { line, ...found }
}

function insertOf(table: string, columns: readonly StageColumn[], lines: readonly string[]): string {
  const names = columns.map(({ name }) => name)
  const values = columns.map(({ name, type }) =>
    type === 'super'
      ? `(line::jsonb -> '${name}')`
      : type === 'varbyte'
        ? `decode(line ->> '${name}', 'hex')`
        : `(line ->> '${name}')::${type}`,
  )
  const json = `[${lines.join(',')}]`.replaceAll(`'`, `''`)
  return `insert into pg_temp.${table} (${names.join(', ')}) select ${values.join(', ')} from json_array_elements('${json}') as lines(line)`
}

const codes: readonly (readonly [RegExp, number])[] = [
  [/^date/, 1205],
  [/^time/, 1206],
  [/^(smallint|integer|bigint|numeric|real|double)/, 1207],
  [/^boolean/, 1210],
]

/** The first value that PostgreSQL does not take for its type. */
async function invalidIn(
  query: RedshiftServer['query'],
  columns: readonly StageColumn[],
  lines: readonly string[],
): Promise<LoadProblem | undefined> {
  const values = lines.flatMap((text, at) => {
    const row: Record<string, unknown> = JSON.parse(text)
    return columns.flatMap(({ name, type }) => {
      const value = row[name]
      return typeof value === 'string' ? [{ line: at + 1, column: name, type, value }] : []
    })
  })
  const [found] = await query<{ line: number; column: string; type: string }>(
    `select line, "column", type from json_to_recordset($1::json) as given(line int, "column" text, type text, value text)
      where not pg_input_is_valid(value, type) order by line limit 1`,
    [JSON.stringify(values)],
  )
  if (!found) return undefined
  return { ...found, code: codes.find(([pattern]) => pattern.test(found.type))?.[1] ?? 1299 }
}
