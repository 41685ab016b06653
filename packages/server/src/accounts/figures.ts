import type { AccountFigures, Usage } from '@penstock/wire'
import { hasScope } from '../access.ts'
import type { Answer, Call } from '../call.ts'
import { containing } from '../db/like.ts'
import { findLimit } from '../organizations/limits.ts'
import { unixSeconds } from '../time.ts'
import type { AccountDeps } from './accounts.ts'
import {
  type AccountFiguresRow,
  type ConnectionFigures,
  type FiguresFilter,
  figuresList,
  usage,
} from './figures-queries.ts'

/** Figures of sub-accounts: failing connections, volumes, and how much of the limits is left. */

/** Lists sub-accounts with their figures: one statement, however many there are, and the limit of their connections. */
export async function listAccountFigures(
  { db, actor, query: { q, failing, sort = '-failing', size, offset } }: Call<'listAccountFigures'>,
  { config }: AccountDeps,
): Promise<Answer<'listAccountFigures'>> {
  const { organizationId, accountIds } = actor
  const incidents = hasScope(actor, 'alerts:read')
  const filter: FiguresFilter = {
    organizationId,
    accountIds,
    like: containing(q),
    failing: failing ?? null,
    sort,
    incidents,
  }
  const [rows, { max }] = await Promise.all([
    figuresList(filter).all(db, { ...filter, size, offset }),
    findLimit(db, config, organizationId, 'connections'),
  ])
  return {
    reply: rows
      .filter((row): row is AccountFiguresRow => row.id !== null)
      .map((row) => viewFigures(row, max, incidents)),
    total: rows[0]?.total ?? 0,
  }
}

/** The figures of the organization with its limits. An actor who is limited to sub-accounts gets their sums, without limits. */
export async function getUsage({ db, actor }: Call<'getUsage'>, { config }: AccountDeps): Promise<Answer<'getUsage'>> {
  const { organizationId, accountIds } = actor
  const incidents = hasScope(actor, 'alerts:read')
  const maxOf = async (name: 'accounts' | 'rows-per-month') =>
    accountIds === null ? (await findLimit(db, config, organizationId, name)).max || null : null
  const [row, accountsMax, rowsMax] = await Promise.all([
    usage[accountIds === null ? 'all' : 'some'].first(db, { organizationId, accountIds, incidents }),
    maxOf('accounts'),
    maxOf('rows-per-month'),
  ])
  if (!row) throw new Error('The sums have no row')
  const reply: Usage = {
    accounts: { used: row.accounts, max: accountsMax, failing: row.failingAccounts },
    connections: viewConnections(row),
    rowsThisMonth: { used: row.rows, max: rowsMax },
    openIncidents: incidents ? { count: row.openIncidents, since: row.since && unixSeconds(row.since) } : null,
  }
  return { reply }
}

const viewConnections = ({ failing, active, draft, disabled }: ConnectionFigures) => ({
  failing,
  active,
  draft,
  disabled,
})

const viewFigures = (row: AccountFiguresRow, connectionsMax: number, incidents: boolean): AccountFigures => ({
  id: row.id,
  name: row.name,
  enabled: row.enabled,
  connections: viewConnections(row),
  connectionsMax,
  rowsThisMonth: row.rows,
  openIncidents: incidents ? row.openIncidents : null,
  lastIncident:
    row.incidentId === null
      ? null
      : {
          id: row.incidentId,
          ruleName: row.ruleName,
          connectionId: row.connectionId,
          connectionName: row.connectionName,
          reasons: row.reasons,
          errorCode: row.errorCode,
          openedTime: unixSeconds(row.openedTime),
          resolvedTime: row.resolvedTime && unixSeconds(row.resolvedTime),
          acknowledgedTime: row.acknowledgedTime && unixSeconds(row.acknowledgedTime),
        },
})
