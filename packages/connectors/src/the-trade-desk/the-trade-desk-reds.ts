import { defineConnector } from '@penstock/connector'
import { developerPortal } from './developer-portal.ts'
import { theTradeDesk } from './platform.ts'

/** The raw event data stream (REDS) of The Trade Desk. */
export const theTradeDeskReds = defineConnector({
  slug: 'the-trade-desk-reds',
  name: 'The Trade Desk Raw Event Data Stream',
  platform: theTradeDesk,
  dataType: 'raw events data stream',
  dataTypeCategory: 'reporting',
  description: 'Fetches the log of individual events from The Trade Desk: impressions, clicks and video events.',
  notes: 'New events appear in the streams once an hour.',
  secrets: developerPortal,
  source: {},
})
