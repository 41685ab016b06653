import type { AuditEvent } from '@penstock/wire'
import type { Db } from '../db/database.ts'
import { containing } from '../db/like.ts'
import { idsOfName, namesOf, targetsMax } from './name-queries.ts'
import type { AuditFilter, AuditRow } from './queries.ts'
import { viewEvent } from './view.ts'

/** Names of the targets of events: people know resources by their names, the log keeps identifiers. */

type NamedConnector = { readonly id: string; readonly name: string }
/** The connectors by name. The catalogue implements this, since this module must not import it. */
export type NamedConnectors = {
  readonly all: readonly NamedConnector[]
  find(id: string): NamedConnector | undefined
}

/** Events as the API shows them, each with the name of its target: one statement for all of them. */
export async function viewEvents(
  db: Db,
  catalogue: NamedConnectors,
  organizationId: string,
  rows: readonly AuditRow[],
): Promise<AuditEvent[]> {
  const ids = [...new Set(rows.flatMap(({ targetId }) => targetId ?? []))]
  const found = ids.length === 0 ? [] : await namesOf.all(db, { organizationId, ids })
  const names = new Map(found.map(({ id, name }) => [id, name]))
  return rows.map((row) => viewEvent(row, nameOf(row, names, catalogue)))
}

/** The current name. If the target no longer exists, the name in the values of the event. */
function nameOf(
  { targetId, before, after }: AuditRow,
  names: ReadonlyMap<string, string | null>,
  catalogue: NamedConnectors,
): string | null {
  if (targetId === null) return null
  const known = names.get(targetId) ?? catalogue.find(targetId)?.name
  if (known) return known
  const values = { ...(before as object | null), ...(after as object | null) } as Record<string, unknown>
  const kept = values.name ?? values.email
  return typeof kept === 'string' ? kept : null
}

/** Identifiers of the resources and connectors whose name contains a text, up to `targetsMax` of both. */
export async function targetsOf(
  db: Db,
  catalogue: NamedConnectors,
  { organizationId, accountIds }: Pick<AuditFilter, 'organizationId' | 'accountIds'>,
  q: string,
): Promise<readonly string[]> {
  const resources = await idsOfName.all(db, { organizationId, accountIds, like: containing(q) ?? '' })
  const connectors = catalogue.all
    .filter(({ name }) => name.toLowerCase().includes(q.toLowerCase()))
    .slice(0, targetsMax)
  return [...resources, ...connectors].map(({ id }) => id)
}
