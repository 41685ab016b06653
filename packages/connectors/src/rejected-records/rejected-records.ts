import { defineConnector, text } from '@penstock/connector'
import { rejectedRecordsPlatform } from './platform.ts'

/** The records that transfers of another connection rejected, as a source (docs/decisions/rejected-records.md). */
export const rejectedRecords = defineConnector({
  slug: 'rejected-records',
  name: 'Rejected records',
  platform: rejectedRecordsPlatform,
  dataType: 'data store',
  dataTypeCategory: 'data store',
  description:
    'Reads the records that another connection rejected, with the reasons, so that they are kept in a store of your own: a dead-letter destination.',
  actions: ['read'],
  notes:
    'A connection with this source needs no schedule: a transfer starts soon after one of the other connection ended with rejected records. With a schedule, it starts by the schedule alone. Each rejected record comes once. The records have the values of the source, which can be personal data: choose a destination that may have them, and note that an erasure of a person here does not reach it. Records beyond the number or the days that the operator keeps come as one record that says how many they are.',
  tested: 'The rejected records of this service itself, on PostgreSQL.',
  secrets: {},
  readsRejects: true,
  source: {
    fields: {
      connection: text({
        label: 'Connection',
        description: 'Connection whose rejected records are read. The records can contain personal data',
        required: true,
      }),
    },
    open: async (context) => (await import('./read.ts')).open(context),
    discover: {
      connection: async (context) => (await import('./read.ts')).discoverConnections(context),
      columns: async (context) => (await import('./read.ts')).discoverColumns(context),
    },
  },
  check: async (context) => (await import('./read.ts')).check(context),
})
