import { statement } from '../db/statement.ts'

/** Current names of the targets of events. */

type Named = { readonly table: string; readonly name: string }
/** Tables with the resources that an event can name as its target. */
const named: readonly Named[] = [
  { table: 'accounts', name: 'name' },
  { table: 'connections', name: 'name' },
  { table: 'users', name: "coalesce(nullif(name, ''), email)" },
  { table: 'clients', name: 'name' },
  { table: 'alert_rules', name: 'name' },
  // The path and the query of an address can be secrets.
  { table: 'webhooks', name: "substring(url from '^[a-z]+://([^/?#@]+)')" },
  { table: 'uploads', name: 'name' },
  { table: 'mapping_templates', name: 'name' },
  { table: 'saved_filters', name: 'name' },
  { table: 'triggers', name: 'name' },
  { table: 'user_groups', name: 'display_name' },
]

/** Targets of one name and kind: more are not looked for. */
export const targetsMax = 200

/** The names of some resources of an organization. Removed ones have no name. */
export const namesOf = statement<
  { organizationId: string; ids: readonly string[] },
  { id: string; name: string | null }
>(
  named
    .map(
      ({ table, name }) =>
        `select id, ${name} as name from ${table} where id = any(:ids) and organization_id = :organizationId`,
    )
    .join('\nunion all\n'),
)

/**
 * The resources of an organization whose name contains a text, up to `targetsMax` of each kind. Of sub-accounts and
 * connections, only visible ones. Names of connections have an index. Other resources are few.
 */
export const idsOfName = statement<
  { organizationId: string; accountIds: readonly string[] | null; like: string },
  { id: string }
>(
  `select id from (${named
    .map(({ table, name }) => {
      const found =
        table === 'connections'
          ? "(organization_id || '') = :organizationId and name ilike :like"
          : `organization_id = :organizationId and (${name} ilike :like${table === 'users' ? ' or email ilike :like' : ''})`
      const account = { accounts: 'id', connections: 'account_id' }[table]
      const seen = account ? ` and (:accountIds::text[] is null or ${account} = any(:accountIds))` : ''
      return `(select id from ${table} where ${found}${seen} limit ${targetsMax})`
    })
    .join('\nunion all\n')}) found`,
  { plannedEachTime: true },
)
