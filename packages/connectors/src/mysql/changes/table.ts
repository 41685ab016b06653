import { ConnectorError } from '@penstock/connector'
import { quoteName } from '../plan.ts'
import { valueIn } from '../raw-rows.ts'
import type { MysqlSession } from '../session.ts'
import { notSupported } from './server.ts'
import type { TableName } from './statements.ts'

/** How rows of the table are read from the log. */
export type CheckedTable = {
  /** The column with the end of a row version, in a system-versioned table of MariaDB; empty in other tables. */
  readonly rowEnd: string
}

/** Engines whose changes are in the log exactly when they are committed. */
const transactional: ReadonlySet<string> = new Set(['innodb', 'rocksdb', 'tokudb', 'ndbcluster'])

/**
 * Asserts that each change of the table is in the log, with a key by which its row is found again.
 * Throws `table_not_found`, `not_supported` or `invalid_key`.
 */
export async function checkTable(session: MysqlSession, { database, table }: TableName): Promise<CheckedTable> {
  const { host } = session.place
  const [found] = await session.run(
    `select table_type as type, coalesce(engine, '') as engine,
            (select count(*) from information_schema.statistics s
              where s.table_schema = t.table_schema and s.table_name = t.table_name and s.index_name = 'PRIMARY') as parts
       from information_schema.tables t where table_schema = ? and table_name = ?`,
    [database, table],
  )
  if (!found)
    throw new ConnectorError('table_not_found', `There is no table ${table} in ${database}; check the setting.`)
  const type = valueIn(host, found, 'type')
  if (!/^(BASE TABLE|SYSTEM VERSIONED)$/.test(type)) {
    throw notSupported(
      `${table} is not a table but a ${type.toLowerCase()}. Only tables have changes. Read all rows instead.`,
    )
  }
  const engine = valueIn(host, found, 'engine')
  if (!transactional.has(engine.toLowerCase())) {
    throw notSupported(
      `${table} is stored by the engine ${engine}, which has no transactions. After a crash, its rows and the binary log differ. Run: ALTER TABLE ${quoteName(table)} ENGINE = InnoDB; or read all rows of the table instead.`,
    )
  }
  if (found.parts === '0') {
    throw new ConnectorError(
      'invalid_key',
      `${table} has no primary key, so a changed row could not be found again. Give it one.`,
    )
  }
  await refuseCascades(session, table)
  return { rowEnd: type === 'SYSTEM VERSIONED' ? await rowEndOf(session, database, table) : '' }
}

/** A foreign key with an action, as a server prints it on a line of the definition of the table. */
const cascade = /^ *CONSTRAINT `((?:[^`]|``)+)` FOREIGN KEY .* ON (?:DELETE|UPDATE) (?:CASCADE|SET NULL|SET DEFAULT)\b/m

/** The information schema hides foreign keys from a user who may only read; the definition of the table does not. */
async function refuseCascades(session: MysqlSession, table: string): Promise<void> {
  const [found] = await session.run(`show create table ${quoteName(table)}`)
  const [, name] = cascade.exec(found?.['Create Table'] ?? '') ?? []
  if (name === undefined) return
  throw notSupported(
    `The foreign key ${name.replaceAll('``', '`')} of ${table} changes or removes rows together with the rows that it refers to (ON DELETE or ON UPDATE), which the server does not log. Replace the action by RESTRICT or a trigger, or read all rows of the table instead.`,
  )
}

/** The server adds the column `row_end` to a table that does not name one, and hides it. */
async function rowEndOf(session: MysqlSession, database: string, table: string): Promise<string> {
  const [named] = await session.run(
    `select column_name as name, data_type as type from information_schema.columns
      where table_schema = ? and table_name = ? and generation_expression = 'ROW END'`,
    [database, table],
  )
  if (!named) return 'row_end'
  const { host } = session.place
  if (!/^timestamp/i.test(valueIn(host, named, 'type'))) {
    throw notSupported(
      `${table} is system-versioned by transactions, and the server logs its changes as statements. Only tables that are versioned by times have changes. Read all rows of the table instead.`,
    )
  }
  return valueIn(host, named, 'name')
}
