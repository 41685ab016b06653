import type { ConnectionConfig, ConnectionDetails, ConnectorDefinition, FieldDefinition } from '@penstock/wire'
import { filterField, mappingField, sideOf } from '../settings.ts'

/**
 * The settings that the next connection of a set has in common with the last one: all settings of the source, and settings
 * of the destination with the same meaning there. A setting that addresses something at another platform is not copied: a
 * person is asked for it.
 */
export function copiedSettings(
  from: ConnectionDetails,
  before: ConnectorDefinition,
  after: ConnectorDefinition,
): { readonly src: ConnectionConfig; readonly dest: ConnectionConfig } {
  const { srcConnectionConfig: src, destConnectionConfig } = from
  if (before.connectorId === after.connectorId) return { src, dest: destConnectionConfig }
  const [own, next] = [sideOf(before, 'Destination'), sideOf(after, 'Destination')]
  const takesColumns = own.records.length === 0 && next.records.length === 0
  const isCommon = (field: FieldDefinition): boolean => {
    if (field.name === filterField) return true
    if (field.name === mappingField) return takesColumns
    const same = own.fields.find(({ name }) => name === field.name)
    return same !== undefined && meansTheSame(same, field)
  }
  return { src, dest: valuesOf(next.fields.filter(isCommon), destConnectionConfig) }
}

/** Whether both are choices with the same effect on rows, or the columns of the key. */
const meansTheSame = (one: FieldDefinition, other: FieldDefinition): boolean =>
  (one.purpose === 'key' && other.purpose === 'key') ||
  (one.meanings !== undefined &&
    Object.entries(one.meanings).every(([option, meaning]) => other.meanings?.[option] === meaning))

const valuesOf = (fields: readonly FieldDefinition[], config: ConnectionConfig): ConnectionConfig =>
  Object.fromEntries(
    fields.flatMap(({ name }) => {
      const value = config[name]
      return value === undefined ? [] : [[name, value]]
    }),
  )
