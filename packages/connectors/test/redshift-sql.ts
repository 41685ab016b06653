/** Rules of Redshift for a statement, before PostgreSQL runs it in its place. */

/** A statement for PostgreSQL, or why Redshift refuses it: the SQLSTATE and the message. */
export type Rewritten = { readonly sql: string } | { readonly state: string; readonly message: string }

/** Statements of PostgreSQL that Redshift does not have, as its documentation says; and types that it does not have. */
const refused: readonly (readonly [RegExp, string])[] = [
  [/\b(savepoint|on conflict|returning|distinct on|lateral|unnest|to_regclass|set local|on commit)\b/i, '42601'],
  [/\b(jsonb?|bytea|uuid|xml)\b/i, '42704'],
  [/\b(now|clock_timestamp|make_interval|pg_terminate_backend|json_agg|to_json)\s*\(/i, '0A000'],
  [/\bcopy\b/i, '42601'],
  [/\bfilter\s*\(/i, '42601'],
  [/add column if not exists/i, '42601'],
  // Columns are added one at a time, and rows are not compared as a whole.
  [/add column [^;]*,\s*add column/i, '42601'],
  [/\)\s*[<>]=?\s*\(/, '0A000'],
  // A subquery that refers to the query around it has no window functions.
  [/\bexists\s*\([^;]*\bover\s*\(/i, '0A000'],
]

/** Types, functions and names of Redshift that PostgreSQL gets in its own words; see `setUp`. */
const replaced: readonly (readonly [RegExp, string])[] = [
  [/\b(?:binary varying|varbyte)\s*\(\d+\)/gi, 'varbyte'],
  [/\bjson_serialize\(/gi, 'redshift_serialize('],
  [/\bversion\(\)/gi, `'PostgreSQL 8.0.2 on i686-pc-linux-gnu, Redshift 1.0.77467'::text`],
]

/** Makes of a statement for Redshift one for PostgreSQL. */
export function rewrite(statement: string): Rewritten {
  const parts = statement.match(/'(?:[^']|'')*'|"(?:[^"]|"")*"|[^'"]+/g) ?? []
  const code = parts.map((part) => (/^['"]/.test(part) ? (part[0] ?? '') : part)).join('')
  for (const [pattern, state] of refused) {
    if (pattern.test(code)) return { state, message: `syntax error or missing feature: ${pattern.source}` }
  }
  const isEscaped = parts.some((part) => part.startsWith(`'`) && part.includes('\\'))
  if (isEscaped) return { state: '42601', message: 'a backslash in a literal, which Redshift reads as an escape' }
  const sql = parts.map((part) => {
    if (part.startsWith(`'`)) return part
    // Names are in lower case, also quoted ones.
    if (part.startsWith('"')) return part.toLowerCase()
    return replaced.reduce((text, [pattern, by]) => text.replace(pattern, by), part)
  })
  return { sql: sql.join('') }
}

/** Statements that give a database of PostgreSQL what connectors use of Redshift. */
export const setUp = `
  create domain super as jsonb;
  create domain varbyte as bytea;
  create function getdate() returns timestamp language sql as $$ select date_trunc('second', clock_timestamp() at time zone 'UTC') $$;
  create function sha2(text, integer) returns varchar language sql immutable
    as $$ select encode(sha256(convert_to($1, 'UTF8')), 'hex')::varchar $$;
  create function redshift_serialize(jsonb) returns varchar language sql immutable as $$ select $1::varchar $$;
  create function to_hex(bytea) returns varchar language sql immutable as $$ select encode($1, 'hex')::varchar $$;
  create function redshift_refuses(state text, message text) returns integer language plpgsql
    as $$ begin raise exception using errcode = state, message = message; end $$;
  create table sys_load_error_detail (file_name char(256), line_number bigint, column_name char(127), error_code integer);
  create table sys_query_history (query_label char(320), query_type char(32), status char(10));
  grant select on sys_load_error_detail, sys_query_history to public`

/** A statement that fails as Redshift does. */
export const refusal = (state: string, message: string): string =>
  `select redshift_refuses('${state}', '${message.replaceAll(`'`, `''`)}')`

/** A COPY as connectors send it. */
export type CopyStatement = {
  readonly table: string
  readonly manifest: string
  readonly role: string | undefined
  readonly credentials: string | undefined
}

/** `undefined` if it is none that Redshift understands. */
export function readCopy(statement: string): CopyStatement | undefined {
  const [, table, manifest, role, credentials] =
    /^copy (\w+) from '(s3:\/\/[^'\\]+)' (?:iam_role (default|'[^'\\]+')|credentials '([^'\\]+)') region '[a-z0-9-]+' manifest format as json 'auto' gzip dateformat 'auto' timeformat 'auto' maxerror 0 compupdate off statupdate off$/.exec(
      statement.trim(),
    ) ?? []
  return table === undefined || manifest === undefined ? undefined : { table, manifest, role, credentials }
}

/** An UNLOAD as connectors send it. */
export type UnloadStatement = {
  readonly select: string
  readonly bucket: string
  readonly folder: string
  readonly role: string
  readonly format: string
  readonly gzip: boolean
  readonly extension: string
  readonly cleans: boolean
}

/** `undefined` if it is none that Redshift understands. */
export function readUnload(statement: string): UnloadStatement | undefined {
  const [, select, bucket, folder, role, format, gzip, extension, cleans] =
    /^unload \(\$\$(.+)\$\$\) to 's3:\/\/([^/']+)\/([^']+\/)' iam_role (default|'[^'\\]+') format as (csv header|json) manifest verbose( gzip)? extension '([a-z.]+)' region '[a-z0-9-]+'( cleanpath)?$/s.exec(
      statement,
    ) ?? []
  if (select === undefined || bucket === undefined || folder === undefined) return undefined
  const is = (part: string | undefined) => part !== undefined
  return {
    select,
    bucket,
    folder,
    role: role ?? '',
    format: format ?? '',
    gzip: is(gzip),
    extension: extension ?? '',
    cleans: is(cleans),
  }
}
