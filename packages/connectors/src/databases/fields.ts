import { boolean, type Fields, number, secret, select, text } from '@penstock/connector'

/** What every database that is reached by host, user and password asks for; defined once, so that all ask alike. */

/** Where a database is, who signs in, and how the way there is kept private. */
export const databaseSecrets = ({ name, port }: { name: string; port: number }): Fields => ({
  host: text({
    label: 'Host',
    description: `Name or address of the ${name} server`,
    required: true,
    binds: ['password'],
  }),
  port: number({
    label: 'Port',
    description: 'Port of the server',
    min: 1,
    max: 65_535,
    default: port,
    binds: ['password'],
  }),
  database: text({ label: 'Database', description: 'Name of the database', required: true }),
  user: text({ label: 'User', description: 'Name of the user who signs in', required: true }),
  password: secret({ label: 'Password', description: 'Password of this user', required: true }),
  tlsMode: select({
    label: 'TLS mode',
    description:
      'Whether the connection is encrypted: not at all, always, or always and only with a server whose certificate is trusted and carries the name of the host',
    options: ['disable', 'require', 'verify-full'],
    default: 'verify-full',
    binds: ['password'],
  }),
  caCertificate: text({
    label: 'CA certificate',
    description:
      'Certificates, in PEM, that the server’s must descend from; the public authorities where none is given',
    when: { tlsMode: 'verify-full' },
    binds: ['password'],
  }),
})

const schemaField = (schemas: boolean, description: string, when?: { dataSourceType: string }): Fields =>
  schemas ? { schema: text({ label: 'Schema', description, default: 'public', ...(when ? { when } : {}) }) } : {}

/** What is read from a database, and whether all of it or what is new. */
export const tableSourceFields = ({ schemas }: { schemas: boolean }): Fields => ({
  dataSourceType: select({
    label: 'Data source type',
    description: 'Whether a table or view is read, or the result of a query',
    options: ['Table Reference', 'SQL Query'],
    default: 'Table Reference',
  }),
  ...schemaField(schemas, 'Schema that holds the table or view', { dataSourceType: 'Table Reference' }),
  table: text({
    label: 'Table',
    description: 'Name of the table or view to read',
    required: true,
    when: { dataSourceType: 'Table Reference' },
  }),
  sqlQuery: text({
    label: 'SQL query',
    description: 'SELECT statement whose rows are read',
    required: true,
    when: { dataSourceType: 'SQL Query' },
  }),
  keyColumns: text({
    label: 'Key columns',
    description:
      'Columns that together identify a row, separated by commas; an interrupted transfer resumes after the last key. The primary key of a table where none are given',
  }),
  syncMode: select({
    label: 'Sync mode',
    description: 'Whether each transfer reads all rows or only those whose cursor grew since the last transfer',
    options: ['Full', 'Incremental'],
    default: 'Full',
  }),
  markerColumn: text({
    label: 'Cursor column',
    description:
      'Column whose value grows whenever a row is added or changed; rows without a value in it are not read. After another column is chosen here, the next transfer starts over',
    required: true,
    when: { syncMode: 'Incremental' },
  }),
  lagSeconds: number({
    label: 'Lag in seconds',
    description:
      'How far behind the start of the transfer reading stops where the cursor is a time, so that what is being written at that time waits for the next run instead of being missed',
    min: 0,
    max: 86_400,
    default: 60,
    when: { syncMode: 'Incremental' },
  }),
  timezone: text({
    label: 'Timezone',
    description: 'Time zone of cursor times that do not say theirs, such as Europe/Paris',
    default: 'UTC',
    when: { syncMode: 'Incremental' },
  }),
  statementTimeoutSeconds: number({
    label: 'Statement timeout in seconds',
    description: 'How long the database may take until the first rows come, and then between any two',
    min: 1,
    max: 86_400,
    default: 1800,
  }),
})

/** Where rows are written in a database, and how. */
export const tableDestinationFields = ({ schemas }: { schemas: boolean }): Fields => ({
  ...schemaField(schemas, 'Schema that holds the table'),
  table: text({ label: 'Table', description: 'Name of the table to which rows go', required: true }),
  writeMode: select({
    label: 'Write mode',
    description: 'Whether every row is added, or replaces the row with the same key',
    options: ['Insert', 'Upsert'],
    default: 'Insert',
  }),
  keyColumns: text({
    label: 'Key columns',
    description:
      'Columns by which a row is found again, separated by commas; the table must have a primary key or a unique index on exactly these',
    required: true,
    when: { writeMode: 'Upsert' },
  }),
  createTable: boolean({
    label: 'Create table',
    description: 'Whether a table that is missing is created, with columns of text',
    default: false,
  }),
})
