import { definePlatform } from '@penstock/connector'

export const googleSheets = definePlatform({
  slug: 'google-sheets',
  name: 'Google Sheets',
  type: 'Cloud Storage Provider',
  prepare: [
    'A Google user, or a service account, with the role Editor of the spreadsheet: the button Share of the spreadsheet.',
    'The address of the spreadsheet. Its ID is between `/d/` and `/edit`.',
  ],
  icon: 'googlesheets',
  alsoCalled: ['spreadsheet', 'gsheet', 'excel'],
})
