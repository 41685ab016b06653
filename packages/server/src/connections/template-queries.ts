import type { AuditActor } from '@penstock/wire'
import { statement } from '../db/statement.ts'

/** Statements of mapping templates. */

export type TemplateRow = {
  id: string
  accountId: string | null
  name: string
  destConnectorId: string
  srcConnectorId: string | null
  /** Fields that it fills. */
  fields: number
  createdBy: AuditActor
  version: number
  createdTime: Date
  updatedTime: Date
}
export type TemplateWithMapping = TemplateRow & { mapping: string }
const columns = `
  m.id, m.account_id, m.name, m.dest_connector_id, m.src_connector_id, m.fields, m.created_by, m.version,
  m.created_time, m.updated_time`
const withMapping = `${columns}, m.mapping`

/** Templates that the actor can use: shared templates, and templates of sub-accounts that it can act in. */
type Visible = { organizationId: string; accountIds: readonly string[] | null }
const isVisible = `
  m.organization_id = :organizationId
  and (m.account_id is null or :accountIds::text[] is null or m.account_id = any(:accountIds))
  and coalesce((select deleted_time is null from accounts where id = m.account_id), true)`

type Filter = Visible & { accountId: string | null; destConnectorId: string | null; like: string | null }
const isListed = `${isVisible}
  and (:accountId::text is null or m.account_id is null or m.account_id = :accountId)
  and (:destConnectorId::text is null or m.dest_connector_id = :destConnectorId)
  and (:like::text is null or m.name ilike :like)`

export const listTemplates = statement<Filter & { size: number; offset: number }, TemplateRow>(`
  select ${columns} from mapping_templates m where ${isListed}
  order by lower(m.name), m.id limit :size offset :offset
`)
export const countTemplates = statement<Filter, { total: number }>(`
  select count(*) as total from mapping_templates m where ${isListed}
`)
export const findTemplate = statement<Visible & { id: string }, TemplateWithMapping>(`
  select ${withMapping} from mapping_templates m where m.id = :id and ${isVisible}
`)
export const lockTemplate = statement<Visible & { id: string }, TemplateWithMapping>(`
  select ${withMapping} from mapping_templates m where m.id = :id and ${isVisible} for no key update of m
`)

/** Templates of an organization are created one after another, so that the bound holds. */
export const lockOrganization = statement<{ organizationId: string }, { id: string }>(`
  select id from organizations where id = :organizationId for no key update
`)
export const countForQuota = statement<
  { organizationId: string; accountId: string | null },
  { total: number; ofAccount: number }
>(`
  select count(*) as total, count(*) filter (where account_id = :accountId) as of_account
  from mapping_templates where organization_id = :organizationId
`)

/** The connectors and the mapping of a connection that is not deleted. */
export const findMapping = statement<
  Visible & { accountId: string | null; id: string },
  { destConnectorId: string; srcConnectorId: string; mapping: string }
>(`
  select dest_connector_id, src_connector_id, coalesce(dest_config ->> 'mapping', '') as mapping from connections
  where id = :id and organization_id = :organizationId and status <> 'deleted' and not account_deleted
    and (:accountIds::text[] is null or account_id = any(:accountIds))
    and (:accountId::text is null or account_id = :accountId)
`)

export const insertTemplate = statement<
  Pick<
    TemplateWithMapping,
    'id' | 'accountId' | 'name' | 'destConnectorId' | 'srcConnectorId' | 'mapping' | 'fields'
  > & {
    organizationId: string
    createdBy: string
  },
  TemplateWithMapping
>(`
  insert into mapping_templates as m (id, organization_id, account_id, name, dest_connector_id, src_connector_id, mapping,
    fields, created_by)
  values (:id, :organizationId, :accountId, :name, :destConnectorId, :srcConnectorId,
    :mapping, :fields, :createdBy::jsonb)
  returning ${withMapping}
`)
export const updateTemplate = statement<
  { id: string; name: string; mapping: string; fields: number },
  TemplateWithMapping
>(`
  update mapping_templates m set name = :name, mapping = :mapping, fields = :fields, version = version + 1, updated_time = now()
  where id = :id returning ${withMapping}
`)
export const deleteTemplate = statement<{ id: string }>(`delete from mapping_templates where id = :id`)
