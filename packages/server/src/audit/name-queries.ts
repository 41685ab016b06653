import { statement } from '../db/statement.ts'

/** Names of what events are about, as they are now. */

type Named = { readonly table: string; readonly name: string }
/** Tables with the resources that an event can name as its target. */
const named: readonly Named[] = [
  { table: 'accounts', name: 'name' },
  { table: 'connections', name: 'name' },
  { table: 'users', name: "coalesce(nullif(name, ''), email)" },
  { table: 'clients', name: 'name' },
  { table: 'alert_rules', name: 'name' },
  { table: 'webhooks', name: 'url' },
  { table: 'uploads', name: 'name' },
  { table: 'mapping_templates', name: 'name' },
  { table: 'saved_filters', name: 'name' },
  { table: 'triggers', name: 'name' },
  { table: 'user_groups', name: 'display_name' },
]

/** Targets of one name: more are not looked for. */
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

/** The resources of an organization whose name contains a text. Names of connections have an index; the others are few. */
export const idsOfName = statement<{ organizationId: string; like: string }, { id: string }>(
  `select id from (
    ${named
      .map(({ table, name }) => {
        const ofOrganization =
          table === 'connections'
            ? "(organization_id || '') = :organizationId and name ilike :like"
            : `organization_id = :organizationId and (${name} ilike :like${table === 'users' ? ' or email ilike :like' : ''})`
        return `(select id from ${table} where ${ofOrganization} limit ${targetsMax})`
      })
      .join('\n    union all\n    ')}
  ) found limit ${targetsMax}`,
  { plannedEachTime: true },
)
