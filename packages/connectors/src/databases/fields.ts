import {
  type Backfill,
  boolean,
  type Fields,
  number,
  secret,
  select,
  syncMode,
  text,
  type Values,
  writeMode,
} from '@penstock/connector'
import { byPassword, type CloudWays, cloudFields, cloudSignIn } from './cloud-fields.ts'

/** Fields that all databases with a host, a user and a password share. */

/**
 * Where a database is, who signs in, and how the way there is kept private.
 * @param alsoSent keys of other secrets that are sent to the server
 * @param clouds how tokens of the cloud that hosts the database sign in
 * @param cloudNamesUser whether the cloud also says which user such a token signs in
 */
export const databaseSecrets = ({
  name,
  port,
  alsoSent = [],
  clouds,
  cloudNamesUser = false,
}: {
  name: string
  port: number
  alsoSent?: readonly string[]
  clouds?: CloudWays
  cloudNamesUser?: boolean
}): Fields => {
  const server = { binds: ['password', ...alsoSent], ...(clouds && { identity: 'target' as const }) }
  return {
    host: text({ label: 'Host', description: `Name or address of the ${name} server`, required: true, ...server }),
    port: number({ label: 'Port', description: 'Port of the server', min: 1, max: 65_535, default: port, ...server }),
    database: text({ label: 'Database', description: 'Name of the database', required: true }),
    ...(clouds && cloudSignIn(clouds)),
    user: text({
      keepsState: 'credential',
      label: 'User',
      description: 'Name of the database user',
      required: true,
      ...(cloudNamesUser && { when: byPassword }),
    }),
    password: secret({
      label: 'Password',
      description: 'Password of this user',
      required: true,
      ...(clouds && { when: byPassword }),
    }),
    ...(clouds && cloudFields(clouds)),
    tlsMode: select({
      keepsState: 'credential',
      label: 'TLS mode',
      description: 'How to encrypt the connection, and how to verify the certificate of the server',
      options: ['disable', 'require', 'verify-full'],
      labels: { disable: 'Off', require: 'Encrypted', 'verify-full': 'Encrypted and verified' },
      default: 'verify-full',
      ...server,
    }),
    caCertificate: text({
      keepsState: 'credential',
      label: 'CA certificate',
      description: 'PEM certificates of the authorities to trust. By default the public authorities',
      when: { tlsMode: 'verify-full' },
      ...server,
    }),
  }
}

const schemaField = (schemas: boolean, description: string, when?: { dataSourceType: string }): Fields =>
  schemas
    ? { schema: text({ label: 'Schema', description, default: 'public', ...(when && { when, asked: true }) }) }
    : {}

/** The look-back window of a source with a cursor. */
export const lookBackOfCursor = number({
  keepsState: 'onward',
  label: 'Look-back window in hours',
  description:
    'Only for times as cursors: each transfer reads this many hours again, for rows that arrive late. These rows are sent again, so write them by a key, or send only new and changed rows',
  min: 0,
  max: 8_760,
  default: 0,
  when: { syncMode: 'Incremental' },
})

/** A backfill of a database source: by the times of its cursor column. */
export const backfillByCursor: Backfill = {
  by: 'times',
  whyNot: ({ syncMode }) =>
    syncMode === 'Incremental'
      ? undefined
      : 'reads a range by its cursor: choose New and changed rows, and a cursor column that is a time',
}

const manyTablesFields: Fields = {
  tables: text({
    asked: true,
    keepsState: 'onward',
    label: 'Tables',
    description:
      'Names or patterns of tables, separated by commas: sales.*, crm.orders. The destination table is then a template: {schema}_{table}',
    max: 50_000,
    required: true,
    when: { dataSourceType: 'Many Tables' },
  }),
  tablesExcept: text({
    asked: true,
    keepsState: 'onward',
    label: 'Tables to exclude',
    description: 'Names or patterns of tables that are not moved, separated by commas: *_tmp, sales.audit',
    max: 50_000,
    when: { dataSourceType: 'Many Tables' },
  }),
}

/** The data that is read from a database, and whether a transfer reads all rows or only new ones. */
export const tableSourceFields = ({ schemas, many = false }: { schemas: boolean; many?: boolean }): Fields => ({
  dataSourceType: select({
    label: 'Data source type',
    description: `Read a table or view, ${many ? 'many tables, ' : ''}or the result of a query`,
    options: ['Table Reference', ...(many ? ['Many Tables'] : []), 'SQL Query'],
    labels: { 'Table Reference': 'One table', ...(many && { 'Many Tables': 'Many tables' }), 'SQL Query': 'SQL query' },
    default: 'Table Reference',
  }),
  ...schemaField(schemas, 'Schema of the table or view', { dataSourceType: 'Table Reference' }),
  table: text({
    label: 'Table',
    description: 'Name of the table or view to read',
    required: true,
    when: { dataSourceType: 'Table Reference' },
  }),
  ...(many ? manyTablesFields : {}),
  sqlQuery: text({
    label: 'SQL query',
    description: 'SELECT statement whose rows are read',
    required: true,
    when: { dataSourceType: 'SQL Query' },
  }),
  keyColumns: text({
    label: 'Key columns',
    description:
      'Columns that together identify a row, separated by commas; an interrupted transfer resumes after the last key. By default the primary key of the table',
  }),
  syncMode: syncMode(['Full', 'Incremental'], {
    description: 'Read all rows, or only rows whose cursor has increased since the last transfer',
  }),
  markerColumn: text({
    label: 'Cursor column',
    description:
      'Column whose value increases with each change. Rows without a value are not read. If you select another column, the next transfer starts over',
    required: true,
    when: { syncMode: 'Incremental' },
  }),
  lagSeconds: number({
    keepsState: 'onward',
    label: 'Lag in seconds',
    description:
      'The transfer waits up to this long for open transactions. If the cursor is a time, it also leaves newer rows to the next transfer. 0 does not wait and may miss rows',
    min: 0,
    max: 86_400,
    default: 60,
    when: { syncMode: 'Incremental' },
  }),
  lookBackHours: lookBackOfCursor,
  timezone: text({
    label: 'Time zone',
    description: 'Time zone of cursor values without one, such as Europe/Paris',
    default: 'UTC',
    when: { syncMode: 'Incremental' },
  }),
  statementTimeoutSeconds: number({
    keepsState: 'pace',
    label: 'Statement timeout in seconds',
    description: 'How long the database may take to return the first rows, and then between rows',
    min: 1,
    max: 86_400,
    default: 1800,
  }),
})

/** The key of a source that has no primary keys to look up: without one, rows are ordered by a digest. */
export const keyOrDigest = text({
  label: 'Key columns',
  description: 'Columns that identify a row and set the order, separated by commas',
})

/** The lag of a source whose database does not say which rows are still being written. */
export const lagOfClock = number({
  keepsState: 'onward',
  label: 'Lag in seconds',
  description:
    'Only for times as cursors: rows newer than this are left to the next transfer, so that rows still being written are not missed. If the cursor is a number, rows that are committed late are missed',
  min: 0,
  max: 86_400,
  default: 60,
  when: { syncMode: 'Incremental' },
})

/** The types that the setting `columnTypes` can give a column; `numeric` also with digits: `numeric(10,2)`. */
export const columnTypes: readonly string[] = [
  ...(['text', 'smallint', 'integer', 'bigint', 'numeric', 'double', 'boolean', 'date'] as const),
  ...(['timestamp', 'timestamptz', 'json', 'uuid'] as const),
]

/** Where rows are written in a database, and how. */
export const tableDestinationFields = ({ schemas }: { schemas: boolean }): Fields => ({
  ...schemaField(schemas, 'Schema of the table'),
  table: text({ label: 'Table', description: 'Name of the table that rows are written to', required: true }),
  writeMode: writeMode(['Insert', 'Upsert'], {
    description: 'Add each row, or replace the row with the same key',
  }),
  keyColumns: text({
    purpose: 'key',
    label: 'Key columns',
    description:
      'Columns that identify a row, separated by commas; the table must have a primary key or a unique index on exactly these columns',
    required: true,
    when: { writeMode: 'Upsert' },
  }),
  createTable: boolean({
    asked: true,
    keepsState: 'onward',
    label: 'Create table',
    description: 'Create the table if it is missing',
    default: false,
  }),
  columnTypes: text({
    label: 'Column types',
    description: `Types for columns of the created table, as JSON, such as {"zip": "text"}: ${columnTypes.slice(0, -1).join(', ')} or ${columnTypes.at(-1)}, numeric also with digits, such as numeric(10,2). By default as in the source, or for files as in the first records`,
  }),
})

/** The key columns of an upsert; `undefined` if rows are added, of which none is found again. */
export const windowKeys = ({ writeMode, keyColumns }: Values): readonly string[] | undefined =>
  writeMode === 'Upsert'
    ? String(keyColumns ?? '')
        .split(',')
        .map((name) => name.trim())
    : undefined
