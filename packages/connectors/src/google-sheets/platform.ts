import { definePlatform } from '@penstock/connector'

export const googleSheets = definePlatform({
  slug: 'google-sheets',
  name: 'Google Sheets',
  type: 'Cloud Storage Provider',
  icon: 'googlesheets',
  alsoCalled: ['spreadsheet', 'gsheet', 'excel'],
})
