import type { Rejection } from '@penstock/connector'
import pg from 'pg'
import { isRowError, reasonOf } from './errors.ts'
import { insertInto, type Job, type Loaded, onConflict, send } from './load.ts'
import type { Table } from './table.ts'

/** So many rows are tried at once; a group that fails is tried row by row. */
const groupRows = 32

/**
 * Writes the rows that the table takes, and says of each other one why not. All of it happens on the server, in one
 * statement: texts go to a temporary table, whence a block of PL/pgSQL inserts them group by group, each under a
 * savepoint of its own. This takes some ten times as long as `load`, which is tried first.
 */
export async function loadRowByRow(job: Job): Promise<Loaded> {
  const { session, table } = job
  const { bytes, rejected } = await stageTexts(job)
  await session.run(programFor(table, job.rows.length))
  const faults = await session.run<Fault>(
    'select penstock_row as index, state, field, rule from pg_temp.penstock_faults order by penstock_row',
  )
  for (const { index, state, field, rule } of faults) {
    const named = field ? { field } : {}
    rejected.push({ index, ...named, reason: reasonOf(state, { ...named, ...(rule ? { constraint: rule } : {}) }) })
  }
  return { bytes, rejected }
}

type Fault = { index: number; state: string; field: string; rule: string }

/** Fills a temporary table of texts; rejects what is no text for this database, such as one with a zero byte. */
async function stageTexts(job: Job): Promise<{ bytes: number; rejected: Rejection[] }> {
  const { session, table, rows, writers } = job
  const rejected: Rejection[] = []
  const reject = (index: number, field?: string) =>
    rejected.push({
      index,
      ...(field === undefined ? {} : { field }),
      reason: reasonOf('22021', field ? { field } : {}),
    })
  let picked = (job.picked ?? rows.map((_, index) => index)).filter((index) => {
    const at = writers.findIndex((write, column) => write(rows[index]?.[column] ?? null)?.includes('\0'))
    if (at >= 0) reject(index, table.columns[at]?.name)
    return at < 0
  })
  const texts = table.columns.map((_, at) => `c${at} text`)
  await session.run(
    `create temp table penstock_texts (penstock_row int primary key, ${texts.join(', ')}) on commit drop;
     create temp table penstock_faults (penstock_row int, state text, field text, rule text) on commit drop`,
  )
  while (true) {
    await session.run('savepoint texts')
    try {
      const { bytes } = await send({ ...job, picked }, 'pg_temp.penstock_texts', true)
      await session.run('analyze pg_temp.penstock_texts (penstock_row)')
      return { bytes, rejected }
    } catch (error) {
      // A character that the encoding of the database lacks: the server names the line.
      const line = isRowError(error) ? Number(/, line (\d+)/.exec(error.where ?? '')?.[1]) : Number.NaN
      const index = picked[line - 1]
      if (index === undefined) throw error
      reject(index)
      picked = picked.filter((each) => each !== index)
      await session.run('rollback to savepoint texts')
    }
  }
}

/** What a row, and nothing else, is to blame for. */
const rowErrors = [
  'data_exception',
  'integrity_constraint_violation',
  'cardinality_violation',
  'with_check_option_violation',
  'program_limit_exceeded',
  'raise_exception',
].join(' or ')

function programFor(table: Table, rows: number): string {
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
  return `
    do $penstock$
    declare
      r record; state text; field text; rule text; at int;
      ${columns.map(([index, { fullType }]) => `v${index} ${fullType};`).join(' ')}
    begin
      for at in select generate_series(0, ${rows - 1}, ${groupRows}) loop
        begin
          ${insert(`penstock_row >= at and penstock_row < at + ${groupRows}`)}
        exception when ${rowErrors} then
          for r in select * from pg_temp.penstock_texts where penstock_row >= at and penstock_row < at + ${groupRows} order by penstock_row loop
            begin
              ${insert('penstock_row = r.penstock_row')}
            exception when ${rowErrors} then
              get stacked diagnostics state = returned_sqlstate, field = column_name, rule = constraint_name;
              if field = '' and left(state, 2) = '22' then${search}
                null;
              end if;
              insert into pg_temp.penstock_faults values (r.penstock_row, state, field, rule);
            end;
          end loop;
        end;
      end loop;
    end $penstock$`
}
