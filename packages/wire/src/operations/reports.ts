import { operation } from '../operation.ts'
import { accountIds, connectionIds, days, page, q } from '../parameters.ts'
import { AccountReport, AudienceReport, ConnectionReport } from '../schemas.ts'
import { Type } from '../type.ts'

/** Reports about sub-accounts and connections. */
export const reports = {
  reportAccounts: operation({
    tag: 'Reports',
    summary: 'Report the volume of sub-accounts',
    description:
      'Records and bytes of each sub-account by day and month, from the ledger. Sorted by name of the sub-account.',
    actsIn: 'organization',
    scope: 'reports:read',
    query: { ...days, q: Type.Optional(q), accountIds, ...page },
    reply: AccountReport,
    list: 'paged',
    done: 'Volume of sub-accounts reported',
  }),
  reportConnections: operation({
    tag: 'Reports',
    summary: 'Report the volume of connections',
    description:
      'Records and bytes of each connection of a sub-account by day and month, from the ledger. Sorted by name of the connection, including deleted connections.',
    actsIn: 'account',
    scope: 'reports:read',
    query: { ...days, q: Type.Optional(q), connectionIds, ...page },
    reply: ConnectionReport,
    list: 'paged',
    done: 'Volume of connections reported',
  }),
  reportAudiences: operation({
    tag: 'Reports',
    summary: 'Report the sizes of audiences',
    description:
      'The audiences that the connections of a sub-account feed, with their first and last measurement in the period. The platform is asked once a day, and measurements are kept for 90 days. Sorted by name of the connection.',
    actsIn: 'account',
    scope: 'reports:read',
    query: { ...days, q: Type.Optional(q), connectionIds, ...page },
    reply: AudienceReport,
    list: 'paged',
    done: 'Sizes of audiences reported',
  }),
} as const
