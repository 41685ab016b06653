import { type DiscoveryContext, defineConnector, number, secret, select, text, writeMode } from '@penstock/connector'
import { googleAuthorization } from '../google/authorization.ts'
import { googleSheets as platform } from './platform.ts'

const discover = {
  sheet: async (context: DiscoveryContext) => (await import('./discover.ts')).discoverSheets(context),
  columns: async (context: DiscoveryContext) => (await import('./discover.ts')).discoverColumns(context),
}
const place = {
  spreadsheet: text({
    label: 'Spreadsheet',
    description: 'Address of the spreadsheet in the browser, or the ID in it',
    required: true,
  }),
  sheet: text({
    asked: true,
    label: 'Sheet',
    description: 'Name of the sheet, as on its tab; by default the first one',
  }),
  headerRow: number({
    label: 'Header row',
    description: 'Number of the row with the names of the columns',
    min: 1,
    max: 1000,
    default: 1,
  }),
}
const byUser = { required: true, when: { authType: 'oauth2' } }

/** Rows of a sheet in Google Sheets, in both directions. */
export const googleSheets = defineConnector({
  slug: 'google-sheets',
  name: 'Google Sheets',
  platform,
  dataType: 'data store',
  dataTypeCategory: 'data store',
  description: 'Reads the rows of a sheet below its header row, and appends rows to a sheet or replaces its content.',
  actions: ['read', 'append', 'replace'],
  notes:
    'Share the spreadsheet with the address of the service account, or authorize a user who may edit it; the Google Sheets API must be enabled in the project. Google allows 60 reads and 60 writes a minute for a user, and 10 million cells in a spreadsheet, with empty ones. As a source, rows are read in pages; changes of the sheet during a transfer can be in it in part. Numbers and checkboxes keep their types, and dates are texts as the sheet shows them. Empty rows are left out, and formulas give their results. As a destination, columns are found by their names in the header row, and an empty sheet gets one; a sheet that does not exist is added. Texts are written as texts, so that nothing becomes a formula or a date. Each batch is written to rows with fixed numbers, so that a batch which comes twice is there once. A note in the spreadsheet, which only programs see, says where a transfer began. If someone adds rows during a transfer, the next batch is written behind them; rows that are added in the same second can be overwritten. Replace fills a hidden sheet, and its content takes the place of the other in one step: formulas and charts that refer to the sheet stay, values below and beside the header are removed. For that, the spreadsheet must be able to hold both.',
  tested:
    'Our own test server, which follows the published documentation of the Google Sheets API; not Google Sheets itself.',
  api: { version: 'Google Sheets API v4', ends: 'No end is announced.' },
  authorization: googleAuthorization('https://www.googleapis.com/auth/spreadsheets', { authType: 'oauth2' }),
  secrets: {
    authType: select({
      keepsState: 'credential',
      label: 'Sign-in method',
      description: 'Whether a service account or a user signs in',
      options: ['service-account', 'oauth2'],
      labels: { 'service-account': 'Service account', oauth2: 'Authorized by a user' },
      default: 'service-account',
    }),
    jsonKey: secret({
      label: 'JSON key',
      description: 'Key file of the service account, pasted in full',
      required: true,
      when: { authType: 'service-account' },
    }),
    clientId: text({
      keepsState: 'credential',
      label: 'Client ID',
      description: 'ID of an OAuth client in your Google Cloud project',
      ...byUser,
    }),
    clientSecret: secret({ label: 'Client secret', description: 'Secret of that OAuth client', ...byUser }),
    refreshToken: secret({
      label: 'Refresh token',
      description: 'Token that Google granted to a user who may edit the spreadsheet',
      ...byUser,
    }),
  },
  check: async (context) => (await import('./check.ts')).check(context),
  source: { discover, fields: place, open: async (context) => (await import('./read.ts')).open(context) },
  destination: {
    discover,
    deliver: {
      batch: () => ({ rowsMax: 5_000, bytesMax: 2 << 20 }),
      replaces: ({ writeMode }) => writeMode === 'Replace',
      open: async (context) => (await import('./write.ts')).open(context),
      inspect: async (context) => (await import('./write.ts')).inspect(context),
      rejectionsOf: async () => {
        const { readRows } = await import('./cells.ts')
        return (batch) => readRows(batch).rejected
      },
    },
    fields: {
      ...place,
      writeMode: writeMode(['Append', 'Replace'], {
        description: 'Add rows below the existing rows, or replace the content from the header row on',
      }),
    },
  },
})
