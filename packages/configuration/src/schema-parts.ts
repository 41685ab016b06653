import { AddAccount, CreateConnection } from '@penstock/wire'

/** Parts of the JSON Schema of the files. */

export type JsonSchema = Readonly<Record<string, unknown>>

/** A property of a schema of the contract. */
export const of = (schema: object, property: string): JsonSchema => {
  const { examples: _, ...rest } = (schema as { properties: Record<string, JsonSchema> }).properties[property] ?? {}
  return rest
}

export const object = (
  required: readonly string[],
  properties: Readonly<Record<string, JsonSchema>>,
  description: string,
) => ({ type: 'object', additionalProperties: false, description, required, properties })

export const list = (items: JsonSchema, description: string) => ({ type: 'array', items, description })

export const name = of(AddAccount, 'name')
export const was = {
  ...list(name, 'Previous names. A resource with one of these names is renamed'),
  maxItems: 100,
}
export const id = {
  type: 'string',
  pattern: '^[0-9a-f]{16}$',
  description: 'Identifier in this service, if several have the same name. It differs between services',
}
export const connectorSlug = {
  type: 'string',
  pattern: '^[a-z0-9]+(-[a-z0-9]+)*$',
  maxLength: 100,
  description: 'The connector, by the last part of the address of its page: amazon-s3-source',
}
export const settings = of(CreateConnection, 'srcConnectionConfig')
