import { alertFigures } from '../alerts/keep.ts'
import { countConnections } from '../connections/connections.ts'
import type { Database } from '../db/database.ts'
import type { DatabaseFigures } from '../metrics/database.ts'
import { streamFigures } from '../streams/figures.ts'
import { changeLogFigures } from '../transfers/change-log-figures.ts'
import { readTransferTotals } from '../transfers/totals/totals.ts'
import { readWebhookTotals } from '../webhooks/totals.ts'
import { readOverdueWork } from './figure-queries.ts'

/** The figures of the database, over all processes. */
export const databaseFigures = (database: Database): DatabaseFigures => ({
  transfers: () => readTransferTotals(database),
  connections: () => countConnections(database),
  webhooks: () => readWebhookTotals(database),
  alerts: () => alertFigures(database),
  changeLogs: () => changeLogFigures(database),
  streams: () => streamFigures(database),
  overdue: () => readOverdueWork(database),
})
