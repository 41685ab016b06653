import { ConnectorError, type Discovered } from '@penstock/connector'
import type { PlatformClient } from '../platform-api/client.ts'
import { listIn, objectIn, textIn } from '../platform-api/json.ts'
import { paths } from './api.ts'
import { isContacts, recordId } from './settings.ts'

/** A property of an object type. */
export type Property = {
  readonly name: string
  readonly label: string | undefined
  readonly type: string | undefined
  /** Whether two records cannot have the same value, so that a record can be found by it. */
  readonly unique: boolean
  /** Whether only HubSpot sets it. */
  readonly readOnly: boolean
}

/**
 * The properties of an object type. Also returns the time of HubSpot's clock, in milliseconds since 1970, if HubSpot reports
 * it.
 */
export async function readProperties(
  client: PlatformClient,
  type: string,
): Promise<{ readonly properties: readonly Property[]; readonly clockMs: number | undefined }> {
  const { json, headers } = await client.askObject({ path: paths.properties(type) })
  const properties = listIn(json.results).flatMap((value): Property[] => {
    const { name, label, type: kind, hasUniqueValue, archived, calculated, modificationMetadata } = objectIn(value)
    const named = textIn(name)
    if (named === undefined || !/^[a-z0-9_]{1,200}$/i.test(named) || archived === true) return []
    return [
      {
        name: named,
        label: textIn(label),
        type: textIn(kind),
        unique: named !== recordId && (hasUniqueValue === true || (named === 'email' && isContacts(type))),
        readOnly: calculated === true || objectIn(modificationMetadata).readOnlyValue === true,
      },
    ]
  })
  if (properties.length === 0) {
    throw new ConnectorError('malformed_response', 'HubSpot answered without the properties of the object type.')
  }
  const clock = Date.parse(headers.get('date') ?? '')
  return { properties, clockMs: Number.isNaN(clock) ? undefined : clock }
}

/** Properties as list entries. */
export const listed = (properties: readonly Property[], idProperty?: string): Discovered[] =>
  properties.map(({ name, label, type, unique }) => ({
    value: name,
    kind: 'column',
    ...(label !== undefined && label !== name && { label }),
    ...(type !== undefined && { type }),
    key: idProperty === undefined ? unique : name === idProperty,
    required: name === idProperty,
  }))
