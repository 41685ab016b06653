import type { DiscoveredPage, DiscoveryContext } from '@penstock/connector'
import { pageOfAll } from '../discovery/pages.ts'
import { columnsIn, headerRowIn, requireSheet } from './read.ts'
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
  const [named] = header <= sheet.rows ? (await spreadsheet.read(sheet, header, header)).rows : []
  return pageOfAll(named === undefined ? [] : columnsIn(named).map((value) => ({ value, kind: 'column' })), context)
}
