import type { Rejection } from '@penstock/connector'
import pg from 'pg'
import { isRowError, reasonOf } from './errors.ts'
import { insertInto, isAllKey, keysOf, type LoadJob, onConflict, send } from './load.ts'
import type { PostgresTable } from './table.ts'

/** So many rows are tried at once; a group that fails is tried row by row. */
const groupRows = 32

/**
 * Writes the rows that the table takes, and says of each other one why not, also where a trigger or a rule left it out. All of it happens on the server, in one
 * statement: texts go to a temporary table, from which a block of PL/pgSQL inserts them group by group, each under a
 * savepoint of its own. This takes some ten times as long as `load`, which is tried first.
 */
export async function loadRowByRow(
  job: LoadJob,
): Promise<{ readonly bytes: number; readonly rejected: readonly Rejection[] }> {
  const { session, table } = job
  const { bytes, rejected } = await stageTexts(job)
  await session.execute([programFor(table, job.rows.length)])
  const errors = await session.rows(
    'select penstock_row as index, state, field, rule from pg_temp.penstock_errors order by penstock_row',
    { index: 'integer', state: 'text', field: 'text', rule: 'text' },
  )
  for (const { index, state, field, rule } of errors) {
    if (index < 0 || index >= job.rows.length) throw session.unexpected('the number of a row that was not sent')
    if (state === leftOutState) {
      rejected.push({ index, reason: 'A trigger or a rule of the table left the row out.' })
      continue
    }
    const named = field ? { field: session.redact(field, nameMax) } : {}
    const constraint = rule ? { constraint: session.redact(rule, nameMax) } : {}
    rejected.push({ index, ...named, reason: reasonOf(session.redact(state, 5), { ...named, ...constraint }) })
  }
  return { bytes, rejected }
}

/** Of names in reasons. */
const nameMax = 200
/** No SQLSTATE of PostgreSQL: the table took the row without an error, and has it not. */
const leftOutState = 'PEN01'

/** Fills a temporary table of texts; rejects what is not text for this database, such as one with a zero byte. */
async function stageTexts(job: LoadJob): Promise<{ bytes: number; rejected: Rejection[] }> {
  const { session, table, rows, writers } = job
  const rejected: Rejection[] = []
  const reject = (index: number, field?: string) =>
    rejected.push({
      index,
      ...(field === undefined ? {} : { field }),
      reason: reasonOf('22021', field ? { field } : {}),
    })
  let picked = (job.picked ?? rows.map((_, index) => index)).filter((index) => {
    const at = writers.findIndex(({ write }, column) => write(rows[index]?.[column] ?? null)?.includes('\0'))
    if (at >= 0) reject(index, table.columns[at]?.name)
    return at < 0
  })
  const texts = table.columns.map((_, at) => `c${at} text`)
  await session.execute([
    `create temp table penstock_texts (penstock_row int primary key, ${texts.join(', ')}) on commit drop`,
    'create temp table penstock_errors (penstock_row int, state text, field text, rule text) on commit drop',
  ])
  while (true) {
    await session.execute(['savepoint texts'])
    try {
      const { bytes, written } = await send({ ...job, raw: undefined, picked }, 'pg_temp.penstock_texts', true)
      if (written !== picked.length) throw session.unexpected('another number of rows than a temporary table was given')
      await session.execute(['analyze pg_temp.penstock_texts (penstock_row)'])
      return { bytes, rejected }
    } catch (error) {
      // A character that the encoding of the database lacks: the server names the line.
      const line = isRowError(error) ? Number(/, line (\d+)/.exec(error.where ?? '')?.[1]) : Number.NaN
      const index = picked[line - 1]
      if (index === undefined) throw error
      reject(index)
      picked = picked.filter((each) => each !== index)
      await session.execute(['rollback to savepoint texts'])
    }
  }
}

/** Errors that only a row can cause. */
const rowErrors = [
  'data_exception',
  'integrity_constraint_violation',
  'cardinality_violation',
  'with_check_option_violation',
  'program_limit_exceeded',
  'raise_exception',
].join(' or ')

function programFor(table: PostgresTable, rows: number): string {
  const columns = [...table.columns.entries()]
  // Without its length, so that a text which is too long is refused as an INSERT refuses it, and not cut.
  const cells = columns.map(([at, { type }]) => `texts.c${at}::${type}`).join(', ')
  const insert = (condition: string) =>
    `${insertInto(table)} select ${cells} from pg_temp.penstock_texts as texts where ${condition} order by penstock_row ${onConflict(table)};`
  // A cast does not say which column it was for, so the value that failed is looked for.
  const search = columns
    .map(
      ([at, { name }]) => `
              if field = '' then
                begin v${at} := r.c${at}; exception when data_exception or integrity_constraint_violation then field := ${pg.escapeLiteral(name)}; end;
              end if;`,
    )
    .join('')
  // An existing row is correctly left out if all its columns belong to the key.
  const keys = table.keys.map((at) => `r.c${at}::${table.columns[at]?.type}`).join(', ')
  const isLeftOut = isAllKey(table)
    ? `taken = 0 and not exists (select from ${table.name} as kept where (${keysOf(table, 'kept')}) = (${keys}))`
    : 'taken = 0'
  return `
    do $penstock$
    declare
      r record; state text; field text; rule text; at int; taken bigint; wanted bigint;
      ${columns.map(([index, { fullType }]) => `v${index} ${fullType};`).join(' ')}
    begin
      for at in select generate_series(0, ${rows - 1}, ${groupRows}) loop
        begin
          select count(*) into wanted from pg_temp.penstock_texts where penstock_row >= at and penstock_row < at + ${groupRows};
          ${insert(`penstock_row >= at and penstock_row < at + ${groupRows}`)}
          get diagnostics taken = row_count;
          if taken <> wanted then
            -- Undoes the group, so that it is known which rows are missing.
            raise exception using errcode = '${leftOutState}';
          end if;
        exception when sqlstate '${leftOutState}' or ${rowErrors} then
          for r in select * from pg_temp.penstock_texts where penstock_row >= at and penstock_row < at + ${groupRows} order by penstock_row loop
            begin
              ${insert('penstock_row = r.penstock_row')}
              get diagnostics taken = row_count;
              if ${isLeftOut} then
                insert into pg_temp.penstock_errors values (r.penstock_row, '${leftOutState}', '', '');
              end if;
            exception when ${rowErrors} then
              get stacked diagnostics state = returned_sqlstate, field = column_name, rule = constraint_name;
              if field = '' and left(state, 2) = '22' then${search}
                null;
              end if;
              insert into pg_temp.penstock_errors values (r.penstock_row, state, field, rule);
            end;
          end loop;
        end;
      end loop;
    end $penstock$`
}
