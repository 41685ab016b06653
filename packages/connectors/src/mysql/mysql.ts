import { defineConnector } from '@penstock/connector'
import { databaseSecrets, tableDestinationFields, tableSourceFields } from '../databases/fields.ts'
import { mysqlPlatform } from './platform.ts'

/** Rows from and for tables of MySQL and MariaDB. */
export const mysql = defineConnector({
  slug: 'mysql',
  name: 'MySQL / MariaDB',
  platform: mysqlPlatform,
  dataType: 'data store',
  dataTypeCategory: 'data store',
  description:
    'Reads rows of a table, a view or a query of MySQL or MariaDB, and inserts or upserts rows into a table of it.',
  actions: ['read', 'append', 'update'],
  notes:
    'Rows without a key are read in the order of a digest of each row, for which the server sorts them all: name key columns where there are many. An upsert finds a row by any unique key of its table, and of equal keys within a batch the last row wins. Written batches are noted in the table penstock_batches, in the same database and transaction, so that none is written twice: the user needs CREATE until that table is there, and tables must be of an engine with transactions, such as InnoDB. Inserting is fastest where the server allows LOAD DATA LOCAL. A value that a column would round, cut or read otherwise is rejected: a number with more decimal places or digits than it holds, a time of day for a DATE, a text for bytes that is neither \\x and hexadecimal digits nor Base64. A row may have 64 MiB and 2,000 columns when it is read.',
  tested:
    'MariaDB 10.11 from Debian, over a connection that breaks, and servers that break the protocol; not MySQL itself.',
  secrets: databaseSecrets({ name: 'MySQL or MariaDB', port: 3306 }),
  source: {
    fields: tableSourceFields({ schemas: false }),
    open: async (context) => (await import('./read.ts')).open(context),
  },
  destination: {
    fields: tableDestinationFields({ schemas: false }),
    deliver: {
      batch: () => ({ rowsMax: 50_000, bytesMax: 16 * 1024 * 1024 }),
      open: async (context) => (await import('./write.ts')).open(context),
      inspect: async (context) => (await import('./inspect.ts')).inspect(context),
    },
  },
  check: async (context) => (await import('./check.ts')).check(context),
})
