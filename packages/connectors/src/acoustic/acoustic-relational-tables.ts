import { defineConnector, secret, text } from '@penstock/connector'
import { acoustic } from './platform.ts'

/** Relational tables of Acoustic Campaign, filled with rows. */
export const acousticRelationalTables = defineConnector({
  slug: 'acoustic-relational-tables',
  name: 'Acoustic Relational Tables',
  platform: acoustic,
  dataType: 'data store',
  dataTypeCategory: 'data store',
  description: 'Fills the relational tables of an Acoustic Campaign account with rows from your own data.',
  actions: ['add', 'update'],
  notes:
    'Columns must have exactly the names of the table, in the same case, and all columns of its key must be filled. A row whose key is in the table updates it, any other is inserted, so that a batch that is delivered twice leaves no row twice. Empty cells are left out of the request. Days such as 2026-01-31 become 01/31/2026 in columns of the type date, and booleans become Yes and No; other values are sent unchanged. Acoustic reports each row that it does not store: such rows are rejected, and rows that met a temporary problem are sent three times. An organization can have 10 requests at a time, and each takes 100 rows. The refresh token is that of a user who may use the API and sees the table; an administrator adds the application and the user under Application Account Access.',
  tested: 'Our own test server, which follows Acoustic’s published documentation of its XML API; not Acoustic itself.',
  api: { version: 'Acoustic Campaign XML API', ends: 'No end is known.' },
  secrets: {
    pod: text({
      label: 'Pod',
      description: 'Pod on which Acoustic hosts your account, such as us-1, or its number',
      required: true,
      binds: ['clientToken', 'clientSecret', 'refreshToken'],
    }),
    clientToken: secret({
      label: 'Client token',
      description: 'Client ID that Acoustic gave to the application',
      required: true,
    }),
    clientSecret: secret({
      label: 'Client secret',
      description: 'Secret that Acoustic gave to the application together with its client ID',
      required: true,
    }),
    refreshToken: secret({
      label: 'Refresh token',
      description: 'Long-lived token that Penstock exchanges for access tokens of Acoustic',
      required: true,
    }),
  },
  check: async (context) => (await import('./check.ts')).checkAcoustic(context),
  destination: {
    discover: {
      tableId: async (context) => (await import('./check.ts')).discoverTables(context),
      columns: async (context) => (await import('./check.ts')).discoverColumns(context),
    },
    deliver: {
      batch: () => ({ rowsMax: 1_000, bytesMax: 2_000_000 }),
      open: async (context) => (await import('./relational-rows.ts')).open(context),
      rejectionsOf: async () => {
        const { readRows } = await import('./relational-rows.ts')
        return (batch) => readRows(batch).rejected
      },
      inspect: async (context) => (await import('./relational-rows.ts')).inspect(context),
    },
    fields: {
      tableId: text({
        label: 'Table ID',
        description: 'ID of the relational table, as Acoustic shows it next to its name',
        required: true,
      }),
    },
  },
})
