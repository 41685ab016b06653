import { ConnectorError, type DiscoveredPage, type DiscoveryContext } from '@penstock/connector'
import { pageOfAll } from '../discovery/pages.ts'
import { columnsOf, headerRowIn, requireSheet } from './read.ts'
import { openSpreadsheet } from './sheets-api.ts'

/** The sheets of the spreadsheet in the settings. */
export async function discoverSheets(context: DiscoveryContext): Promise<DiscoveredPage> {
  const sheets = await (await openSpreadsheet(context)).sheets()
  return pageOfAll(
    sheets.map(({ title, hidden }) => ({ value: title, kind: 'sheet', ...(hidden && { label: `${title} (hidden)` }) })),
    context,
  )
}

/** The columns in the header row of the sheet. */
export async function discoverColumns(context: DiscoveryContext): Promise<DiscoveredPage> {
  const spreadsheet = await openSpreadsheet(context)
  const sheet = await requireSheet(spreadsheet, context.settings)
  const header = headerRowIn(context.settings)
  const columns = await columnsOf(spreadsheet, sheet, header).catch((error: unknown) => {
    if (error instanceof ConnectorError && error.code === 'invalid_file') return []
    throw error
  })
  return pageOfAll(
    columns.map((value) => ({ value, kind: 'column' })),
    context,
  )
}
