import { notifyOf } from '../db/notices.ts'
import { statement } from '../db/statement.ts'

/** The topic of the notice that the definitions of added connectors have changed. */
export const definitionsTopic = 'connector-definitions'

/** A definition as it is stored. Its JSON is text, since the order of fields in a form is the order in the text. */
export type DefinitionRow = {
  slug: string
  connectorId: string
  /** `package`, or the protocol of a program. */
  kind: string
  packageName: string
  packageVersion: string
  /** The folder of the connector on the machine that saved the definition. */
  folder: string
  definition: string
  addedTime: Date
}

export const listDefinitions = statement<Record<never, never>, DefinitionRow>(`
  select slug, connector_id, kind, package_name, package_version, folder, definition, added_time
  from connector_definitions order by slug
`)

/** Saves a definition unless a machine has saved one that was added later. */
export const saveDefinition = statement<DefinitionRow>(`
  with saved as (
    insert into connector_definitions as d
      (slug, connector_id, kind, package_name, package_version, folder, definition, added_time)
    values (:slug, :connectorId, :kind, :packageName, :packageVersion, :folder, :definition, :addedTime)
    on conflict (slug) do update set
      kind = excluded.kind, package_name = excluded.package_name, package_version = excluded.package_version,
      folder = excluded.folder, definition = excluded.definition, added_time = excluded.added_time
    where excluded.added_time > d.added_time
      or (excluded.added_time = d.added_time and (excluded.folder, excluded.definition) is distinct from (d.folder, d.definition))
    returning 1
  )
  ${notifyOf(definitionsTopic)} from saved
`)

export const deleteDefinition = statement<{ slug: string }>(`
  with removed as (delete from connector_definitions where slug = :slug returning 1)
  ${notifyOf(definitionsTopic)} from removed
`)
