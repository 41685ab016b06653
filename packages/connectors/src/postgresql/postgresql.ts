import { defineConnector, select } from '@penstock/connector'
import { databaseSecrets, tableDestinationFields, tableSourceFields } from '../databases/fields.ts'
import { postgresqlPlatform } from './platform.ts'

const bytesFormat = select({
  label: 'Bytes format',
  description:
    'How a text for a column of type bytea is read: as PostgreSQL shows bytes (\\x and hexadecimal digits) and else as plain text in UTF-8, or as Base64, which is how other databases and warehouses give bytes as a source',
  options: ['PostgreSQL', 'Base64'],
  default: 'PostgreSQL',
})

/** Rows from and for tables of PostgreSQL. */
export const postgresql = defineConnector({
  slug: 'postgresql',
  name: 'PostgreSQL',
  platform: postgresqlPlatform,
  dataType: 'data store',
  dataTypeCategory: 'data store',
  description:
    'Reads rows of a table, a view or a query of PostgreSQL, and inserts or upserts rows into a table of it.',
  actions: ['read', 'append', 'update'],
  notes:
    'Rows without a key are read in the order of a digest of each row, for which the server sorts them all: name key columns where there are many. An incremental read by a number, such as one of a sequence, waits up to the lag for transactions that are writing to the tables, because they could add smaller numbers later; it fails for the time being where one stays open longer, and waits for none where the lag is 0. It cannot see writers on the primary of a standby server, behind foreign tables and functions, and numbers that a sequence with a cache or an application holds in reserve: use a time as the cursor there, with a lag longer than any transaction. Bytes are given as PostgreSQL shows them, \\x and hexadecimal digits. Of equal keys within a batch the last row wins an upsert. Written batches are noted in the table penstock_batches, in the same schema and transaction, so that none is written twice: the user needs CREATE on the schema until that table is there, and TEMPORARY on the database.',
  tested: 'PostgreSQL 18, which comes with Penstock, over a connection that breaks.',
  secrets: databaseSecrets({ name: 'PostgreSQL', port: 5432 }),
  source: {
    fields: tableSourceFields({ schemas: true }),
    open: async (context) => (await import('./read.ts')).open(context),
  },
  destination: {
    fields: { ...tableDestinationFields({ schemas: true }), bytesFormat },
    deliver: {
      batch: () => ({ rowsMax: 50_000, bytesMax: 8 * 1024 * 1024 }),
      open: async (context) => (await import('./write.ts')).open(context),
      inspect: async (context) => (await import('./inspect.ts')).inspect(context),
    },
  },
  check: async (context) => (await import('./check.ts')).check(context),
})
