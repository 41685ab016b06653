import { defineConnector } from '@penstock/connector'
import { keepReadField, retentionFields, startFields } from '../event-stream/shared-fields.ts'
import { outcomesPlatform } from './platform.ts'

/** Outcomes of the rows of connections that record them, as a source (docs/outcomes.md). */
export const outcomes = defineConnector({
  slug: 'outcomes',
  name: 'Outcomes',
  platform: outcomesPlatform,
  dataType: 'data store',
  dataTypeCategory: 'data store',
  description:
    'Records what became of each row of connections that you choose: accepted, rejected, left out or removed, and the answer of the platform.',
  actions: ['read'],
  notes:
    'Each configuration is a record of outcomes. A connection writes to it if its setting *Record outcomes in* names it; *Columns in outcomes* chooses the columns that identify a row. The outcome of a row is stored in the transaction in which its batch is confirmed, so it is there exactly once, also after a crash. Read it with a connection to your own table. Outcomes are sealed and kept for the days and up to the size that the configuration sets. Finding and erasing a person reaches them.',
  tested: 'Outcomes that this service recorded itself, on PostgreSQL.',
  secrets: { ...retentionFields(30), keepRead: keepReadField('outcomes') },
  readsEvents: true,
  source: {
    fields: startFields('outcomes', 'outcome'),
    open: async (context) => (await import('./read.ts')).open(context),
    backfill: { by: 'times' },
    discover: { columns: async (context) => (await import('./read.ts')).discoverColumns(context) },
  },
  check: async (context) => (await import('./read.ts')).check(context),
})
