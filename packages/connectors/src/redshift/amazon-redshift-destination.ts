import { defineConnector, secret, text } from '@penstock/connector'
import { access, encryption } from '../amazon-s3/access.ts'
import { databaseSecrets } from '../databases/fields.ts'
import { createTable, listsOf, warehouseDelivery, writeFields } from '../kit/warehouse/definition.ts'
import { amazonRedshift } from './platform.ts'

/** Rows for a table of Amazon Redshift. */
export const amazonRedshiftDestination = defineConnector({
  slug: 'amazon-redshift-destination',
  name: 'Amazon Redshift Data Store',
  platform: amazonRedshift,
  dataType: 'data store',
  dataTypeCategory: 'data store',
  description:
    'Writes rows to a table of Amazon Redshift by way of Amazon S3: appends them, replaces the existing ones, or updates rows by their key.',
  actions: ['append', 'replace', 'update'],
  notes:
    'For a cluster or a serverless workgroup whose endpoint accepts connections from this service. A database user signs in with a password, or a role of IAM that trusts this service, as the user IAMR:Role. Each batch is put into a bucket of yours, in the folder penstock of the staging path, as compressed JSON with a manifest. COPY loads it into a temporary table. One transaction then writes it to the table and records it in the table penstock_batches of the same schema, so that a batch which comes twice after a crash is written once. Staged files are removed after the load, and those of an interrupted transfer when it continues; add a lifecycle rule to the bucket for the case that it never does. Redshift reads the bucket with its role, if you name one, and otherwise with the access key, which is then sent to Redshift. Replace deletes what was there in the transaction of the first batch; readers see the old rows until then. For an upsert, the last of several rows with the same key in a batch wins, and columns that are not delivered keep their values; Redshift enforces no keys, so rows that were there twice are updated twice. With an upsert, rows that a report does not have any more are deleted, if the user has DELETE on the table. Rows that the source has removed are deleted as well, and the table can be a mirror of the source (Rows to send: Mirror), which needs DELETE. Writers lock penstock_batches while a batch is written, so transfers to the same schema wait for each other; after a lost connection, until Redshift has noticed it. The user needs USAGE on the schema, CREATE on it until the tables exist, TEMPORARY on the database, and SELECT, INSERT, UPDATE and DELETE on the table, as far as the write mode uses them; penstock_batches belongs to the user who wrote first, and other users need the same privileges on it. To have new columns added, the user must own the table. The access key needs s3:PutObject and s3:DeleteObject on the staging path, and s3:ListBucket to remove what a crash has left. A value that a column would round, shorten or interpret differently is rejected; lengths of text are counted in bytes. SUPER is written from JSON, whose null is a missing value. A row has at most 4 MB.',
  tested:
    'Our own test server, which follows the published documentation of Redshift’s SQL and speaks its protocol, with PostgreSQL 18 and an S3 server from npm, fauxqs 2.4.1, behind it; not Redshift itself. No one else has checked the server, because AWS’ client for Node speaks another protocol, the Data API.',
  api: { version: 'protocol 3.0 of PostgreSQL, and Amazon S3 REST API of 1 March 2006', ends: 'no end is announced' },
  servers: ['host'],
  secrets: {
    ...databaseSecrets({
      name: 'Redshift',
      port: 5439,
      clouds: { 'aws-iam': 'IAM of Amazon Redshift' },
      cloudNamesUser: true,
      alsoSent: ['secretAccessKey', 'sessionToken'],
    }),
    copyRoleArn: text({
      keepsState: 'credential',
      label: 'IAM role of Redshift',
      description:
        'Role that Redshift uses to read the staging bucket, such as arn:aws:iam::123456789012:role/Name, or the word default for the default role of the cluster. Without it, Redshift gets the access key below',
    }),
    accessKeyId: text({
      keepsState: 'credential',
      label: 'Access key ID',
      description: 'ID of an IAM access key that may write to the staging bucket',
      required: true,
    }),
    secretAccessKey: secret({
      label: 'Secret access key',
      description: 'Secret that AWS showed once when the access key was created',
      required: true,
    }),
    sessionToken: access.sessionToken,
    roleArn: access.roleArn,
    externalId: access.externalId,
    region: access.region,
  },
  destination: {
    discover: listsOf(() => import('./discover.ts'), {
      schema: 'discoverSchemas',
      table: 'discoverDestinations',
      stagingPath: 'discoverStaging',
      keyColumns: 'discoverTargetColumns',
      columns: 'discoverTargetColumns',
    }),
    fields: {
      schema: text({ label: 'Schema', description: 'Schema of the table', default: 'public' }),
      table: text({ label: 'Table', description: 'Name of the table that rows are written to', required: true }),
      stagingPath: text({
        keepsState: 'transport',
        label: 'Staging path',
        description:
          'Where batches are stored before Redshift loads them: the s3:// address of a bucket, or of a folder in it',
        required: true,
      }),
      ...writeFields(),
      ...createTable,
      ...encryption,
    },
    deliver: warehouseDelivery(50_000, () => import('./write.ts'), {
      notesBatches: true,
      addColumns: async (context) => (await import('./add-columns.ts')).addColumns(context),
    }),
  },
  check: async (context) => (await import('./check.ts')).checkDestination(context),
})
