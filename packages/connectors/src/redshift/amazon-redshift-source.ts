import { boolean, type Discover, defineConnector, number, text } from '@penstock/connector'
import { backfillByCursor, databaseSecrets, keyOrDigest, lagOfClock, tableSourceFields } from '../databases/fields.ts'
import { amazonRedshift } from './platform.ts'

const columns: Discover = async (context) => (await import('./discover.ts')).discoverSourceColumns(context)

/** Rows from a table, a view or a query of Amazon Redshift. */
export const amazonRedshiftSource = defineConnector({
  slug: 'amazon-redshift-source',
  name: 'Amazon Redshift Source',
  platform: amazonRedshift,
  dataType: 'data store',
  dataTypeCategory: 'data store',
  description: 'Reads rows from a table, a view or a query of Amazon Redshift.',
  actions: ['read'],
  notes:
    'For a cluster or a serverless workgroup whose endpoint accepts connections from this service. A database user signs in with a password, or a role of IAM that trusts this service, as the user IAMR:Role. The user needs USAGE on the schema and SELECT on the table. Rows are read by one statement in the order of the key columns, and Redshift waits for the transfer to take them. After an interruption, another statement reads the rows behind the last one. Without key columns, rows are read in the order of a digest of each row, for which Redshift reads and sorts all columns: set key columns for large tables. Key columns and the cursor cannot be of type REAL, DOUBLE PRECISION, BOOLEAN, SUPER, VARBYTE, GEOMETRY, GEOGRAPHY or HLLSKETCH, and rows with an empty key stop the transfer. Redshift does not say which transactions are still writing: set a lag that is longer than any. For an incremental transfer, the cursor is a time, a day or an exact number; rows without a value in it are not read, a preview counts them, and a day is read once it is over. Times are read in UTC, SUPER as JSON, VARBYTE as \\x and hexadecimal digits. External tables can be read by their names, but are not listed. For many millions of rows, have Redshift write them to Amazon S3 itself: name a role in the configuration that may put, list and delete objects there, and set Export inside Redshift. One UNLOAD then writes files to a folder that has the name of the transfer, and their manifest. Rows pass Penstock if a column has the type SUPER, VARBYTE, GEOMETRY, GEOGRAPHY or HLLSKETCH, or REAL or DOUBLE PRECISION in CSV and NDJSON. Redshift may write an empty text to CSV like a missing value.',
  tested:
    'Our own test server, which follows the published documentation of Redshift’s SQL and speaks its protocol, with PostgreSQL 18 behind it; not Redshift itself. No one else has checked the server, because AWS’ client for Node speaks another protocol, the Data API.',
  api: { version: 'protocol 3.0 of PostgreSQL', ends: 'no end is announced' },
  servers: ['host'],
  secrets: {
    ...databaseSecrets({
      name: 'Redshift',
      port: 5439,
      clouds: { 'aws-iam': 'IAM of Amazon Redshift' },
      cloudNamesUser: true,
    }),
    unloadRoleArn: text({
      keepsState: 'credential',
      label: 'IAM role of Redshift',
      description:
        'Role that Redshift uses to write to a bucket, such as arn:aws:iam::123456789012:role/Name, or the word default for the default role of the cluster; only for connections that export inside Redshift',
    }),
  },
  source: {
    discover: {
      schema: async (context) => (await import('./discover.ts')).discoverSchemas(context),
      table: async (context) => (await import('./discover.ts')).discoverSources(context),
      keyColumns: columns,
      markerColumn: columns,
      columns,
    },
    fields: {
      ...tableSourceFields({ schemas: true }),
      keyColumns: keyOrDigest,
      lagSeconds: lagOfClock,
      timezone: text({
        label: 'Time zone',
        description: 'Time zone of cursor values without one, such as Europe/Paris',
        default: 'UTC',
        when: { syncMode: 'Incremental' },
      }),
      statementTimeoutSeconds: number({
        keepsState: 'pace',
        label: 'Statement timeout in seconds',
        description: 'How long Redshift may take to return the first rows, and then between rows',
        min: 1,
        max: 86_400,
        default: 1800,
      }),
      exportFiles: boolean({
        keepsState: 'transport',
        label: 'Export inside Redshift',
        description:
          'Redshift writes the rows to Amazon S3 directly, with the role of the configuration. Rows still pass through Penstock if it must process them, such as for a mapping',
        default: false,
      }),
    },
    exports: {
      schemes: ['s3'],
      isWanted: ({ exportFiles }) => exportFiles === true,
      open: async (context) => (await import('./export.ts')).openExporter(context),
    },
    backfill: backfillByCursor,
    open: async (context) => (await import('./read.ts')).open(context),
  },
  check: async (context) => (await import('./check.ts')).checkSource(context),
})
