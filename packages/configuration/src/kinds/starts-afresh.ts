import type { ConnectorDefinition, FieldDefinition } from '@penstock/wire'
import type { FieldChange } from '../values.ts'

/** Which changes have the next transfer of a connection read its source from the beginning, and the note that announces it. */

/** Labels of the changed settings of a side and of its connector to which a cursor belongs. */
export const identityOf = (
  definition: ConnectorDefinition,
  path: 'source' | 'destination',
  inSide: readonly FieldChange[],
  inConnector: readonly FieldChange[] = [],
): string[] => [
  ...labelsOf(definition[path]?.fields ?? [], `${path}.settings`, inSide),
  ...labelsOf(
    definition.secretFields.filter(({ role }) => !role || role.toLowerCase() === path),
    'settings',
    inConnector,
  ),
]

const labelsOf = (fields: readonly FieldDefinition[], path: string, changes: readonly FieldChange[]): string[] =>
  fields
    .filter(({ name, keepsState }) => !keepsState && changes.some(({ field }) => field === `${path}.${name}`))
    .map(({ label }) => `"${label}"`)

/** Whether a connection with these settings of its source can have a cursor. */
export function mayHaveCursor(
  fields: readonly FieldDefinition[],
  settings: Readonly<Record<string, unknown>>,
): boolean {
  const syncMode = fields.find(({ name }) => name === 'syncMode')
  return (settings.syncMode ?? syncMode?.default) !== 'Full'
}

export const startsAfresh = (what: string, identity: readonly string[]): string =>
  `${what} will read its source from the beginning in its next transfer, because the plan changes ${identity.join(', ')}. A destination that inserts rows gets them twice.`
