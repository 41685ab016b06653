import type { Handlers } from '../http/call.ts'
import { reportAccounts, reportConnections } from './reports.ts'

export const reportRoutes = (): Handlers<'reportAccounts' | 'reportConnections'> => ({
  reportAccounts: ({ db, actor, query }) => reportAccounts(db, actor, query),
  reportConnections: ({ db, account, query }) => reportConnections(db, account, query),
})
