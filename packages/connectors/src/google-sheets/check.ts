import { checkSteps } from '@penstock/connector'
import { assertConnectivity } from '../platform-api/call.ts'
import { textIn } from '../platform-api/json.ts'
import { openSheets, openSpreadsheet, sheetsOrigin } from './sheets-api.ts'

/** Whether Google answers and accepts the credentials, and whether the spreadsheet is shared with them. */
export const check = checkSteps(
  ['connectivity', async (context) => await assertConnectivity(context, `${sheetsOrigin}/`)],
  [
    'authentication',
    async (context) => {
      const client = await openSheets(context)
      // The spreadsheet of this ID does not exist, so only a refused token is an error.
      const expects = ({ status }: { status: number }) => status === 404 || status === 400
      await client.ask({ path: '/penstock-checks-the-credentials', query: { fields: 'spreadsheetId' }, expects })
      return 'Google accepts the credentials for Google Sheets.'
    },
  ],
  [
    'permissions',
    async (context) => {
      if (textIn(context.settings.spreadsheet) === undefined)
        return 'Spreadsheets are looked up when a connection names one.'
      const sheets = await (await openSpreadsheet(context)).sheets()
      return `The spreadsheet has ${sheets.length} sheets.`
    },
  ],
)
