import {
  boolean,
  type Discover,
  type DiscoveryContext,
  defineConnector,
  number,
  select,
  syncMode,
  text,
} from '@penstock/connector'
import { authorization } from './authorization.ts'
import { salesforce } from './platform.ts'
import { signIn } from './sign-in.ts'

type Discoveries = typeof import('./discover.ts')

/** Loads the code of a discovery when it is called. */
const discover = (choose: (all: Discoveries) => Discover) => async (context: DiscoveryContext) =>
  choose(await import('./discover.ts'))(context)

/** Records of Salesforce, in both directions, with jobs of Bulk API 2.0. */
export const salesforceCrm = defineConnector({
  slug: 'salesforce-crm',
  name: 'Salesforce CRM',
  platform: salesforce,
  dataType: 'Audiences - CRM API',
  dataTypeCategory: 'audience activation',
  description:
    'Reads records of any object of Salesforce, all or only changed ones, and inserts, updates, upserts or deletes records.',
  actions: ['read', 'create', 'update', 'delete'],
  notes:
    'The app needs the OAuth scope api, and for a user’s authorization also refresh_token. The user needs “API Enabled” and access to the objects and fields. An organization that blocks login.salesforce.com for its API needs client credentials. As a destination, each batch of up to 10,000 rows is a job of Bulk API 2.0, and one of the 15,000 batches that an organization may process in 24 hours, with about 6 API calls. Salesforce processes a job later and reports the result of each row: a batch waits for it. After a crash, the job that was begun is found by its object, operation, time and rows, so that it is not sent twice; the rows of another transfer that inserts exactly the same at the same time are taken for it. The first transfer after one that failed may insert its last, unconfirmed batch again: use Upsert if that matters. Rows of a batch with the same key become one record, whose fields have the last values. Empty cells change nothing, unless you choose to clear them. A column such as Account.Customer_Key__c finds the record of a reference by its own External ID; a reference to several objects needs the name of one: User:Owner.Email. Deleted records go to the recycle bin. As a source, the query is a job: Salesforce keeps its result for 7 days, within which an interrupted transfer resumes, and runs at most 10,000 query jobs in 24 hours. Rows are in no order. Fields of related objects are read by their path, such as Account.Owner.Name. Incremental reads records whose SystemModstamp is later than 10 minutes before the transfer before, so that some come again; the object needs that field, LastModifiedDate or CreatedDate. It finds no records that were deleted unless you include them, with their field IsDeleted. A backfill reads records by the same field, if their last change is in its range. Compound fields such as addresses are left out, since their parts are fields of their own, and so are files. Text, dates and decimal numbers are read as text, times in UTC.',
  tested:
    'Our own test server, which follows Salesforce’s published documentation of Bulk API 2.0 and its REST API; not Salesforce itself. Salesforce’s client for Node, jsforce 3.10.16, understands the server.',
  api: {
    version: 'v64.0',
    ends: 'Salesforce supports a version for at least three years, so this one until June 2028 at least.',
  },
  secrets: signIn,
  authorization,
  check: async (context) => (await import('./check.ts')).check(context),
  source: {
    discover: {
      objectName: discover((all) => all.discoverReadable),
      fields: discover((all) => all.discoverFields),
      columns: discover((all) => all.discoverFields),
    },
    backfill: { by: 'times' },
    open: async (context) => (await import('./read.ts')).open(context),
    fields: {
      dataSourceType: select({
        label: 'Data source type',
        description: 'Read fields of an object, or the result of your own query',
        options: ['Object', 'SOQL Query'],
        default: 'Object',
      }),
      objectName: text({
        asked: true,
        label: 'Object',
        description: 'API name of the object to read, such as Contact or Order_Line__c',
        when: { dataSourceType: 'Object' },
      }),
      fields: text({
        asked: true,
        label: 'Fields',
        description: 'API names of fields, also related ones such as Account.Name. By default all of the object',
        when: { dataSourceType: 'Object' },
      }),
      soqlQuery: text({
        asked: true,
        label: 'SOQL query',
        description: 'SELECT statement whose records are read, without aggregates and subqueries',
        when: { dataSourceType: 'SOQL Query' },
      }),
      syncMode: syncMode(['Full', 'Incremental'], {
        description: 'Read all records each time, or only records that changed since the last transfer',
      }),
      deletedRecords: boolean({
        label: 'Deleted records',
        description: 'Also read archived records and records in the recycle bin. Their field IsDeleted is true',
        default: false,
      }),
    },
  },
  destination: {
    discover: {
      objectName: discover((all) => all.discoverWritable),
      externalIdField: discover((all) => all.discoverExternalIds),
      columns: discover((all) => all.discoverTargetFields),
    },
    deliver: {
      // Salesforce processes a job of this number of rows as one batch, which has at most 10 million characters.
      batch: () => ({ rowsMax: 10_000, bytesMax: 8 << 20 }),
      open: async (context) => (await import('./deliver.ts')).open(context),
      inspect: async (context) => (await import('./deliver.ts')).inspect(context),
      rejectionsOf: async ({ settings }) => {
        const [{ rejectionsBy }, { rulesOf }] = await Promise.all([import('./deliver.ts'), import('./rows.ts')])
        return rejectionsBy(rulesOf(settings))
      },
    },
    fields: {
      objectName: text({
        asked: true,
        label: 'Object',
        description: 'API name of the object whose records are written, such as Contact or Order_Line__c',
      }),
      operation: select({
        asked: true,
        label: 'Operation',
        description: 'Add records, update by ID, upsert by an External ID, or delete by ID',
        options: ['Upsert', 'Insert', 'Update', 'Delete'],
        default: 'Upsert',
      }),
      externalIdField: text({
        asked: true,
        label: 'External ID field',
        description: 'API name of the field that identifies records, such as Customer_Key__c',
        when: { operation: 'Upsert' },
      }),
      emptyCells: select({
        label: 'Empty cells',
        description: 'Keep the field of the record if a cell is empty, or clear it',
        options: ['Leave unchanged', 'Clear'],
        default: 'Leave unchanged',
      }),
      resultWaitSeconds: number({
        keepsState: 'pace',
        label: 'Wait for results (seconds)',
        description: 'How long each batch waits for its job before the transfer retries and checks the job again',
        min: 0,
        max: 3600,
        default: 600,
      }),
    },
  },
})
