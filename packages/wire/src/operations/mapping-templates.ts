import { example } from '../examples.ts'
import { limits } from '../limits.ts'
import { operation } from '../operation.ts'
import { optionalId, page, q } from '../parameters.ts'
import {
  AppliedMappingTemplate,
  ApplyMappingTemplate,
  CreateMappingTemplate,
  MappingTemplate,
  MappingTemplateDetails,
  UpdateMappingTemplate,
} from '../schemas.ts'
import { Type } from '../type.ts'

/** Mappings that several connections share. */
export const mappingTemplates = {
  listMappingTemplates: operation({
    tag: 'Connections',
    summary: 'List mapping templates',
    description:
      'Lists mapping templates by name, without their mappings. With `destConnectorId`, the mapping of the standard ECAPI comes first if the connector is a destination of conversions. With `accountId`, lists templates of that sub-account and shared templates. A credential that is limited to sub-accounts sees only templates of its sub-accounts and shared templates.',
    actsIn: 'organization or account',
    scope: 'connections:read',
    query: {
      q: Type.Optional(q),
      destConnectorId: optionalId('Keeps templates for this destination connector', example.destination.connectorId),
      ...page,
    },
    reply: MappingTemplate,
    list: 'paged',
    done: 'Mapping templates listed',
  }),
  createMappingTemplate: operation({
    tag: 'Connections',
    summary: 'Create a mapping template',
    description: `Saves a mapping, or the mapping of a connection, as a template for the same destination connector: at most ${limits.mappingTemplatesOfAccountMax} in a sub-account, and ${limits.mappingTemplatesMax} in the organization. A template of a sub-account is visible only there. A template without a sub-account is shared: every sub-account can use it, and only credentials that are not limited to sub-accounts can create and change it.`,
    actsIn: 'organization',
    scope: 'connections:write',
    body: CreateMappingTemplate,
    reply: MappingTemplateDetails,
    success: 201,
    done: 'Mapping template created',
    refusals: ['quota_exceeded'],
  }),
  getMappingTemplate: operation({
    tag: 'Connections',
    summary: 'Get a mapping template',
    description: 'Returns a mapping template with its mapping.',
    actsIn: 'organization',
    scope: 'connections:read',
    reply: MappingTemplateDetails,
    done: 'Mapping template found',
    concurrency: 'etag',
  }),
  updateMappingTemplate: operation({
    tag: 'Connections',
    summary: 'Update a mapping template',
    description:
      'Renames a template, replaces its mapping, or both. Connections to which it was applied keep their mappings. The sub-account and the destination connector of a template cannot change.',
    actsIn: 'organization',
    scope: 'connections:write',
    body: UpdateMappingTemplate,
    reply: MappingTemplateDetails,
    done: 'Mapping template updated',
    concurrency: 'if-match',
  }),
  deleteMappingTemplate: operation({
    tag: 'Connections',
    summary: 'Delete a mapping template',
    description: 'Deletes a template. Connections to which it was applied keep their mappings.',
    actsIn: 'organization',
    scope: 'connections:write',
    reply: MappingTemplateDetails,
    done: 'Mapping template deleted',
    concurrency: 'if-match',
  }),
  applyMappingTemplate: operation({
    tag: 'Connections',
    summary: 'Apply a mapping template to columns',
    description:
      'Returns the mapping of a template for a source with other columns, and changes nothing. Columns are matched by name as in Preview Connection: the same name, a name that differs in case and signs, or a name with the same meaning. Entries without a column are null in the mapping, and each has a finding. The template of a standard also reports what the destination does not get. Save the mapping with Update Connection.',
    reads: true,
    actsIn: 'organization',
    scope: 'connections:read',
    body: ApplyMappingTemplate,
    reply: AppliedMappingTemplate,
    done: 'Mapping template applied',
  }),
} as const
