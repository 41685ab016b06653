import { example } from '../examples.ts'
import { limits } from '../limits.ts'
import { type Static, Type } from '../type.ts'
import { AuditActor } from './audit.ts'
import { count, exactly, Identifier, identifier, name, text, unixSeconds } from './kinds.ts'

/** Mapping templates. Not in the specification. */

const orNull = <S extends Parameters<typeof Type.Optional>[0]>(schema: S, description: string, shown: unknown) =>
  Type.Union([schema, Type.Null()], { description, examples: [shown] })

const templateName = name('CRM to Meta audiences')
const mapping = Type.String({
  minLength: 1,
  maxLength: limits.textLengthMax,
  description: 'The mapping, in the format of the setting `mapping` of a destination: a JSON object as text',
  examples: ['{"email_sha256": "E-mail", "phone_sha256": "Mobile", "action": {"value": "add"}}'],
})
const accountId = 'Sub-account of the template; null: every sub-account of the organization'
const srcConnectorId = (description: string) => orNull(Identifier, description, example.source.connectorId)

const templateFields = {
  id: identifier('the template', example.mappingTemplateId),
  name: templateName,
  accountId: orNull(Identifier, accountId, example.accountId),
  builtIn: Type.Boolean({
    description: 'Whether it is the mapping of a standard, ECAPI, which nobody can change',
    examples: [false],
  }),
  destConnectorId: identifier('the destination connector of the template', example.destination.connectorId),
  destConnectorName: text('Name of that connector', example.destination.name),
  srcConnectorId: srcConnectorId('Source connector with which it was created; null: unknown'),
  fields: count('Fields of the destination that it fills', 12),
  createdBy: orNull(
    AuditActor,
    'The creator; null for the template of a standard, and for a shared template if you are limited to sub-accounts',
    {
      kind: 'user',
      id: example.clientId,
      name: 'Ada Lovelace',
    },
  ),
  createdTime: unixSeconds('When it was created', example.createdTime),
  updatedTime: unixSeconds('When it was last changed', example.updatedTime),
}

/** A mapping template, as lists have it. */
export const MappingTemplate = exactly(templateFields, { description: 'Mapping template' })
export type MappingTemplate = Static<typeof MappingTemplate>

/** A mapping template with its mapping. */
export const MappingTemplateDetails = exactly(
  { ...templateFields, mapping },
  { description: 'Mapping template with its mapping' },
)
export type MappingTemplateDetails = Static<typeof MappingTemplateDetails>

/** Request of Create Mapping Template. */
export const CreateMappingTemplate = exactly(
  {
    name: templateName,
    accountId: orNull(
      Identifier,
      `${accountId}. Null is refused for credentials that are limited to sub-accounts`,
      example.accountId,
    ),
    connectionId: Type.Optional(
      identifier(
        'a connection whose mapping and connectors are used, in the given sub-account. Without it, destConnectorId and mapping are required; with it, omit them',
        example.connectionId,
      ),
    ),
    destConnectorId: Type.Optional(templateFields.destConnectorId),
    srcConnectorId: Type.Optional(srcConnectorId('Source connector with which it was created; null: unknown')),
    mapping: Type.Optional(mapping),
  },
  {
    description: 'Mapping template to create',
    examples: [{ name: 'CRM to Meta audiences', accountId: example.accountId, connectionId: example.connectionId }],
  },
)
/** Request of Update Mapping Template. */
export const UpdateMappingTemplate = Type.Object(
  { name: Type.Optional(templateName), mapping: Type.Optional(mapping) },
  { additionalProperties: false, minProperties: 1, description: 'Changes to the template; at least one of both' },
)

/** Request of Apply Mapping Template. */
export const ApplyMappingTemplate = exactly(
  {
    columns: Type.Array(Type.String({ maxLength: limits.textLengthMax }), {
      maxItems: limits.templateColumnsMax,
      description: `Columns of the source, at most ${limits.templateColumnsMax}: as Preview Connection returns them with \`unmapped\``,
      examples: [['E-mail address', 'Mobile phone']],
    }),
  },
  { description: 'Columns to apply the template to' },
)
/** Response of Apply Mapping Template. */
export const AppliedMappingTemplate = exactly(
  {
    mapping: text(
      'The mapping for these columns, to be saved as the setting `mapping` of a destination',
      '{"email_sha256":"E-mail address","phone_sha256":"Mobile phone","action":{"value":"add"}}',
    ),
    columns: Type.Array(
      exactly(
        {
          field: text('Field of the destination', 'email_sha256'),
          templateColumn: text('Column in the template', 'E-mail'),
          column: orNull(
            Type.String(),
            'Matching column of the source; null: no column matches, or several do',
            'E-mail address',
          ),
          candidates: Type.Array(text('Column', 'E-mail address'), {
            description: 'Possible columns if no column matches with certainty, at most five',
            examples: [[]],
          }),
        },
        { description: 'Column of the template' },
      ),
      { description: 'Every entry of the template that names a column' },
    ),
    findings: Type.Array(
      exactly(
        {
          field: text('Field of the destination', 'city_sha256'),
          message: text(
            'The entry that does not apply, and why',
            'the template maps "Town", which this source does not have',
          ),
        },
        { description: 'Finding' },
      ),
      { description: 'Entries of the template that do not apply. Nothing is sent for them' },
    ),
    losses: Type.Array(
      exactly(
        {
          column: text('Column of the source', 'user_data.age_range'),
          message: text('The loss, and often the remedy', 'Meta Conversions does not accept it.'),
        },
        { description: 'Loss' },
      ),
      { description: 'Values that do not reach the destination, if the template is the mapping of a standard' },
    ),
  },
  { description: 'Mapping template applied to columns' },
)
export type AppliedMappingTemplate = Static<typeof AppliedMappingTemplate>
