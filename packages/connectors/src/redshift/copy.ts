import { ConnectorError, type Values } from '@penstock/connector'
import pg from 'pg'
import type { S3Client } from '../amazon-s3/s3-client.ts'
import type { PostgresSession } from '../postgresql/session.ts'
import type { StagedFile } from './staging.ts'

/** The temporary table that a batch is loaded into. */
export const stage = 'penstock_stage'
/** The number of a row in its batch, in that table. */
export const rowNumber = 'penstock_row'
/** Whether a row must be removed, in that table. No value if it must not. */
export const rowRemoved = 'penstock_removed'
/** The column of the table that has the values of a delivered one. */
export const stageColumn = (at: number): string => `penstock_${at}`

/** A row that COPY did not load: its number in the file, from 1, the stage's column, and Redshift's error number. */
export type LoadError = { readonly line: number; readonly column: string; readonly code: string }

/**
 * The role with which Redshift reads the bucket. `undefined` if it uses the access key. Throws `invalid_setting` if it is not a
 * valid role.
 */
export function copyRoleOf({ copyRoleArn }: Values): string | undefined {
  const role = typeof copyRoleArn === 'string' ? copyRoleArn.trim() : ''
  if (role === '') return undefined
  if (role === 'default') return 'default'
  // Roles can be chained.
  const one = 'arn:[\\w-]+:iam::\\d{12}:role/[\\w+=.@/-]{1,512}'
  if (new RegExp(`^${one}(,${one}){0,9}$`).test(role)) return `'${role}'`
  const message =
    'The role of Redshift is none; it has the form arn:aws:iam::123456789012:role/Name, or is the word default.'
  throw new ConnectorError('invalid_setting', message)
}

/**
 * Loads a file into the stage, as a whole or not at all. Resolves with `undefined` if it is loaded. Otherwise resolves with the
 * rows that Redshift could not load, or an empty list if it does not name them. Throws a `ConnectorError` for everything else.
 */
export async function copyFile(
  session: PostgresSession,
  client: S3Client,
  secrets: Values,
  { file, manifest }: StagedFile,
): Promise<readonly LoadError[] | undefined> {
  const { credentials, region } = await client.access()
  const role = copyRoleOf(secrets)
  const access = role === undefined ? `credentials '${credentialsOf(credentials)}'` : `iam_role ${role}`
  try {
    await session.execute([
      `copy ${stage} from '${manifest}' ${access} region '${region}' manifest format as json 'auto' gzip dateformat 'auto' timeformat 'auto' maxerror 0 compupdate off statupdate off`,
    ])
    return undefined
  } catch (error) {
    if (!(error instanceof pg.DatabaseError)) throw error
    if (!isLoadError(error)) throw copyProblem(error, session, client)
    return loadErrors(session, file)
  }
}

/** As a statement has them. Nothing that could end the literal gets in. */
function credentialsOf({
  accessKeyId,
  secretAccessKey,
  sessionToken,
}: Awaited<ReturnType<S3Client['access']>>['credentials']): string {
  const parts = { aws_access_key_id: accessKeyId, aws_secret_access_key: secretAccessKey, token: sessionToken }
  const given = Object.entries(parts).flatMap(([name, value]) => (value === undefined ? [] : [`${name}=${value}`]))
  if (given.every((part) => /^[\w+/=.-]+$/.test(part))) return given.join(';')
  throw new ConnectorError(
    'invalid_credentials',
    'The access key has characters that no access key of AWS has. Set both again.',
  )
}

/** Redshift refers to one of two tables, by the kind of cluster. */
const isLoadError = ({ message }: pg.DatabaseError): boolean =>
  /\b(stl_load_errors|sys_load_error_detail)\b|^Load into table .* failed/i.test(message)

const errorTables = [
  'select line_number as line, column_name as field, error_code as code from sys_load_error_detail where trim(file_name) = $1 order by line_number limit 100',
  'select line_number as line, colname as field, err_code as code from stl_load_errors where trim(filename) = $1 order by line_number limit 100',
]

/** The errors that Redshift has recorded for a file that it did not load. Empty if the user is not allowed to read them. */
async function loadErrors(session: PostgresSession, file: string): Promise<readonly LoadError[]> {
  for (const text of errorTables) {
    try {
      const rows = await session.rows(text, { line: 'integer', field: 'text?', code: 'integer' }, [file])
      if (rows.length === 0) continue
      return rows.map(({ line, field, code }) => ({ line, column: field?.trim() ?? '', code: String(code) }))
    } catch (error) {
      // A cluster of an older version lacks the first view, a serverless workgroup the second.
      if (!(error instanceof pg.DatabaseError)) throw error
    }
  }
  return []
}

const reasons: Readonly<Record<string, string>> = {
  '1204': 'A text is too long for the column',
  '1205': 'A value is not a date, which the column requires',
  '1206': 'A value is not a time, which the column requires',
  '1207': 'A value is not a number',
  '1208': 'A value is not a number',
  '1210': 'A value is neither true nor false, which the column requires',
  '1213': 'There is no value for a column that needs one',
  '1220': 'A text has characters that Redshift does not store',
}

/** Why a row was not loaded, without its values. */
export const reasonOf = (code: string): string =>
  `${reasons[code] ?? 'Redshift cannot load a value of the row'} (load error ${code}).`

/** An error of COPY that is not about rows. Its message can quote the statement, and so the credentials: it is not passed on. */
function copyProblem(error: pg.DatabaseError, session: PostgresSession, client: S3Client): unknown {
  const { message = '', detail = '' } = error
  const text = `${message} ${detail}`
  if (
    /not authorized to (assume|get credentials)|UnauthorizedException|Not authorized to get credentials/i.test(text)
  ) {
    return new ConnectorError(
      'permission_denied',
      'Redshift may not assume the role that COPY names. Associate the role with the cluster or workgroup, and name Redshift in its trust policy.',
    )
  }
  if (/InvalidAccessKeyId|SignatureDoesNotMatch|Invalid credentials/i.test(text)) {
    return new ConnectorError(
      'invalid_credentials',
      'Amazon S3 does not accept the access key that COPY names. Set it again.',
    )
  }
  if (/ExpiredToken/i.test(text)) {
    return new ConnectorError(
      'expired_credentials',
      'The session of the access key that COPY names has ended. Set a new key.',
    )
  }
  if (/AccessDenied|Access Denied|Status 403|Forbidden/i.test(text)) {
    return new ConnectorError(
      'permission_denied',
      'Redshift may not read the staging bucket. Allow the role of Redshift, or the access key, s3:GetObject and s3:ListBucket there, and kms:Decrypt for an encrypted bucket.',
    )
  }
  if (/PermanentRedirect|Status 301/i.test(text)) {
    return new ConnectorError(
      'invalid_address',
      'The staging bucket is in another region than COPY names. Set the region.',
    )
  }
  if (
    /NoSuchKey|Status 404|does not exist|S3ServiceException|S3CurlException|could not connect|timed? ?out/i.test(text)
  ) {
    return new ConnectorError('platform_unavailable', 'Redshift could not read the staged file in Amazon S3.')
  }
  if (error.code === '42601') {
    return new ConnectorError(
      'invalid_setting',
      'Redshift does not understand COPY with these settings (SQLSTATE 42601).',
    )
  }
  const problem = session.problemOf(error)
  return problem instanceof ConnectorError ? problem.with({ message: client.redact(problem.message, 1_000) }) : problem
}
