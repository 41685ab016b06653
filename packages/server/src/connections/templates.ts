import type { Connector } from '@penstock/connector'
import { type AppliedEcapi, type AppliedTemplate, applyEcapi, applyTemplate, mappingErrors } from '@penstock/engine'
import {
  type AppliedMappingTemplate,
  type BodyOf,
  limits,
  type MappingTemplate,
  type MappingTemplateDetails,
} from '@penstock/wire'
import { auditActorOf } from '../audit/requests.ts'
import type { Actor, Answer, Call } from '../call.ts'
import type { Catalogue } from '../connectors/catalogue.ts'
import type { Db, Transaction } from '../db/database.ts'
import { containing } from '../db/like.ts'
import { newIdentifier } from '../identifiers.ts'
import { requireAccounts } from '../organizations/clients.ts'
import { refuse, refuseFieldErrors, requireShare } from '../refusal.ts'
import { unixSeconds } from '../time.ts'
import { standardTarget, standardTemplates, viewStandard } from './standard-templates.ts'
import * as queries from './template-queries.ts'

/**
 * Mappings that are saved to be used again with the same destination connector. A template belongs to one sub-account, or is shared
 * with all of them by an actor that is not limited to some. It contains no name and no identifier of a sub-account or a connection.
 */

/** Dependencies of the handlers of mapping templates. */
export type TemplateDeps = { readonly catalogue: Catalogue }

const visibleTo = ({ organizationId, accountIds }: Actor) => ({ organizationId, accountIds })
const etagOf = ({ version }: queries.TemplateRow): string => String(version)

export async function listMappingTemplates(
  { db, actor, account, query: { q, destConnectorId, size, offset } }: Call<'listMappingTemplates'>,
  deps: TemplateDeps,
): Promise<Answer<'listMappingTemplates'>> {
  const filter = {
    ...visibleTo(actor),
    accountId: account?.id ?? null,
    destConnectorId: destConnectorId ?? null,
    like: containing(q),
  }
  const standard = destConnectorId ? standardTemplates(deps.catalogue, destConnectorId, q) : []
  const shown = standard.slice(offset, offset + size).map(({ mapping, ...template }) => template)
  const stored = { size: size - shown.length, offset: Math.max(0, offset - standard.length) }
  const [rows, count] = await Promise.all([
    queries.listTemplates.all(db, { ...filter, ...stored }),
    queries.countTemplates.first(db, filter),
  ])
  const reply = [...shown, ...rows.map((row) => viewTemplate(row, actor, deps))]
  return { reply, total: standard.length + (count?.total ?? 0) }
}

export async function getMappingTemplate(
  { db, actor, id }: Call<'getMappingTemplate'>,
  deps: TemplateDeps,
): Promise<Answer<'getMappingTemplate'>> {
  const standard = standardTarget(deps.catalogue, id)
  if (standard) return { reply: viewStandard(standard), etag: 'ecapi-1.0' }
  const row = await requireTemplate(db, actor, id)
  return { reply: viewTemplateDetails(row, actor, deps), etag: etagOf(row) }
}

/**
 * Saves the given mapping, or the mapping of a connection. Refuses with `quota_exceeded` if the organization or the sub-account
 * has too many templates, and with `forbidden` a shared template of an actor that is limited to sub-accounts.
 */
export async function createMappingTemplate(
  { db: tx, actor, body }: Call<'createMappingTemplate'>,
  deps: TemplateDeps,
): Promise<Answer<'createMappingTemplate'>> {
  const { accountId } = body
  const { organizationId } = actor
  if (accountId === null) requireToShare(actor, 'body.accountId')
  await requireAccounts(tx, actor, accountId === null ? [] : [accountId], () => 'body.accountId')
  const { destConnectorId, srcConnectorId, mapping } = await contentOf(tx, actor, body)
  const destination = deps.catalogue.find(destConnectorId)
  if (!destination) {
    const message = `no connector of the catalogue is ${destConnectorId}`
    refuse('not_found', [{ field: 'body.destConnectorId', message }])
  }
  if (srcConnectorId !== null && !deps.catalogue.find(srcConnectorId)) {
    refuse('not_found', [
      { field: 'body.srcConnectorId', message: `no connector of the catalogue is ${srcConnectorId}` },
    ])
  }
  requireMapping(destination, mapping)
  await queries.lockOrganization.first(tx, { organizationId })
  const count = await queries.countForQuota.first(tx, { organizationId, accountId })
  requireShare(
    count ?? { total: 0, ofAccount: 0 },
    { total: limits.mappingTemplatesMax, ofAccount: limits.mappingTemplatesOfAccountMax },
    {
      field: 'mappingTemplates',
      what: 'of the organization',
      ofAccount: 'of a sub-account',
      advice: 'delete templates that are not needed',
    },
  )
  const row = await queries.insertTemplate.first(tx, {
    id: newIdentifier(),
    organizationId,
    accountId,
    name: body.name.trim(),
    destConnectorId,
    srcConnectorId,
    mapping,
    fields: filledFields(mapping),
    createdBy: JSON.stringify(auditActorOf(actor)),
  })
  if (!row) throw new Error('The template was not inserted')
  return { reply: viewTemplateDetails(row, actor, deps) }
}

/** Renames a template, or replaces its mapping. */
export async function updateMappingTemplate(
  { db: tx, actor, id, body, precondition }: Call<'updateMappingTemplate'>,
  deps: TemplateDeps,
): Promise<Answer<'updateMappingTemplate'>> {
  const before = await lockForChange(tx, actor, id, deps)
  precondition.check(etagOf(before))
  const mapping = body.mapping ?? before.mapping
  if (body.mapping !== undefined) requireMapping(deps.catalogue.known(before.destConnectorId), mapping)
  const name = body.name?.trim() ?? before.name
  const row = await queries.updateTemplate.first(tx, { id, name, mapping, fields: filledFields(mapping) })
  if (!row) throw new Error(`Template ${id} was locked and is gone`)
  const audited = { before: viewTemplateDetails(before, actor, deps) }
  return { reply: viewTemplateDetails(row, actor, deps), etag: etagOf(row), audited }
}

export async function deleteMappingTemplate(
  { db: tx, actor, id, precondition }: Call<'deleteMappingTemplate'>,
  deps: TemplateDeps,
): Promise<Answer<'deleteMappingTemplate'>> {
  const row = await lockForChange(tx, actor, id, deps)
  precondition.check(etagOf(row))
  await queries.deleteTemplate.run(tx, { id })
  const reply = viewTemplateDetails(row, actor, deps)
  return { reply, audited: { before: reply, after: null } }
}

/** Matches the columns of a template with other columns. Reads no source and changes nothing. */
export async function applyMappingTemplate(
  { db, actor, id, body }: Call<'applyMappingTemplate'>,
  { catalogue }: TemplateDeps,
): Promise<Answer<'applyMappingTemplate'>> {
  const standard = standardTarget(catalogue, id)
  const ofStandard = standard && applyEcapi(standard, body.columns)
  if (ofStandard) return { reply: viewApplied(ofStandard, ofStandard.losses) }
  const { destConnectorId, mapping } = await requireTemplate(db, actor, id)
  return {
    reply: viewApplied(applyTemplate(catalogue.known(destConnectorId).destination?.records, mapping, body.columns)),
  }
}

const viewApplied = (
  { mapping, columns, findings }: AppliedTemplate,
  losses: AppliedEcapi['losses'] = [],
): AppliedMappingTemplate => ({
  mapping: JSON.stringify(mapping),
  columns: columns.map((column) => ({ ...column, candidates: [...column.candidates] })),
  findings: [...findings],
  losses: [...losses],
})

/** The connectors and the mapping of a new template. */
async function contentOf(
  tx: Transaction,
  actor: Actor,
  { accountId, connectionId, destConnectorId, srcConnectorId, mapping }: BodyOf<'createMappingTemplate'>,
): Promise<{ destConnectorId: string; srcConnectorId: string | null; mapping: string }> {
  if (connectionId === undefined) {
    const required = 'is required, unless connectionId names a connection'
    refuseFieldErrors([
      ...(destConnectorId === undefined ? [{ field: 'body.destConnectorId', message: required }] : []),
      ...(mapping === undefined ? [{ field: 'body.mapping', message: required }] : []),
    ])
    return { destConnectorId: destConnectorId ?? '', srcConnectorId: srcConnectorId ?? null, mapping: mapping ?? '' }
  }
  const message = 'is already set by the connection: omit it, or omit connectionId'
  refuseFieldErrors(
    Object.entries({ destConnectorId, srcConnectorId, mapping }).flatMap(([key, given]) =>
      given === undefined ? [] : [{ field: `body.${key}`, message }],
    ),
  )
  const found = await queries.findMapping.first(tx, { ...visibleTo(actor), accountId, id: connectionId })
  if (!found) {
    const owner = accountId === null ? 'organization' : 'sub-account'
    refuse('invalid_request', [{ field: 'body.connectionId', message: `is not a connection of the ${owner}` }])
  }
  if (found.mapping.trim() === '') {
    refuse('invalid_request', [{ field: 'body.connectionId', message: 'has no mapping: save one first' }])
  }
  return found
}

/** Refuses a mapping that fills nothing, or that the destination does not take, whatever columns a source has. */
function requireMapping({ name, destination }: Connector, mapping: string): void {
  if (!destination?.fields || !Object.hasOwn(destination.fields, 'mapping')) {
    refuse('invalid_request', [{ field: 'body.destConnectorId', message: `${name} takes no mapping` }])
  }
  refuseFieldErrors(mappingErrors(mapping, destination.records, 'body.mapping'))
  if (filledFields(mapping) === 0) {
    refuse('invalid_request', [{ field: 'body.mapping', message: 'fills no field: map one at least' }])
  }
}

/** @param mapping valid, or as an older version saved it */
const filledFields = (mapping: string): number => {
  try {
    return Object.values(JSON.parse(mapping) as object).filter((entry) => entry !== null).length
  } catch {
    return 0
  }
}

/** Shared templates reach every sub-account, so actors that are limited to sub-accounts cannot write them. */
function requireToShare({ accountIds }: Actor, field: string): void {
  if (accountIds === null) return
  const message = 'you are limited to named sub-accounts, and every sub-account uses a shared template'
  refuse('forbidden', [{ field, message }])
}

async function requireTemplate(db: Db, actor: Actor, id: string): Promise<queries.TemplateWithMapping> {
  return (await queries.findTemplate.first(db, { ...visibleTo(actor), id })) ?? refuse('not_found')
}

async function lockForChange(
  tx: Transaction,
  actor: Actor,
  id: string,
  { catalogue }: TemplateDeps,
): Promise<queries.TemplateWithMapping> {
  if (standardTarget(catalogue, id)) {
    refuse('forbidden', [{ field: 'id', message: 'is a template of a standard, which nobody can change' }])
  }
  const row = (await queries.lockTemplate.first(tx, { ...visibleTo(actor), id })) ?? refuse('not_found')
  if (row.accountId === null) requireToShare(actor, 'accountId')
  return row
}

const viewTemplate = (
  row: queries.TemplateRow,
  { accountIds }: Actor,
  { catalogue }: TemplateDeps,
): MappingTemplate => ({
  id: row.id,
  name: row.name,
  accountId: row.accountId,
  builtIn: false,
  destConnectorId: row.destConnectorId,
  destConnectorName: catalogue.known(row.destConnectorId).name,
  srcConnectorId: row.srcConnectorId,
  fields: row.fields,
  createdBy: row.accountId === null && accountIds !== null ? null : row.createdBy,
  createdTime: unixSeconds(row.createdTime),
  updatedTime: unixSeconds(row.updatedTime),
})

const viewTemplateDetails = (
  row: queries.TemplateWithMapping,
  actor: Actor,
  deps: TemplateDeps,
): MappingTemplateDetails => ({
  ...viewTemplate(row, actor, deps),
  mapping: row.mapping,
})
