import type { ConnectionConfig, ConnectorDefinition, FieldDefinition, Role, SideDefinition } from '@penstock/wire'
import {
  changesOf,
  type FieldChanges,
  type FormField,
  type FormValues,
  valuesOf,
} from '../../components/fields/form-field.ts'

/** The two sides of a connection, as requests call them and by the role that each plays. */
export const sides = [
  { key: 'src', role: 'Source' },
  { key: 'dest', role: 'Destination' },
] as const satisfies readonly { key: string; role: Role }[]
export type ConnectionSide = (typeof sides)[number]
export type SideKey = ConnectionSide['key']

/** Settings that the mapping step shows, and no form. */
export const mappingField = 'mapping'
export const filterField = 'filter'
/** Types of the columns of a created table. Files have another setting of this name. */
export const typesField = 'columnTypes'
const ofMappingStep: readonly string[] = [mappingField, filterField, typesField]
const isOfMappingStep = ({ name, type }: Pick<FieldDefinition, 'name' | 'type'>): boolean =>
  type === 'Text' && ofMappingStep.includes(name)

export const sideOf = (definition: ConnectorDefinition, role: Role): SideDefinition =>
  (role === 'Source' ? definition.source : definition.destination) ?? { fields: [], records: [] }

/** The names of the connectors through which no data moves in their role. */
export const idleNames = (
  source: ConnectorDefinition | undefined,
  destination: ConnectorDefinition | undefined,
): string[] => [
  ...(source?.source?.integrated === false ? [source.name] : []),
  ...(destination?.destination?.integrated === false ? [destination.name] : []),
]

/** The settings that a side's form asks for, with the values that are saved. */
export function fieldsOfSide(definitions: readonly FieldDefinition[], saved: ConnectionConfig = {}): FormField[] {
  return definitions
    .filter((definition) => !isOfMappingStep(definition))
    .map((definition) => ({ ...definition, value: textOf(saved[definition.name]) }))
}

/** A saved value as text, as the service shows values of fields. */
export function textOf(value: ConnectionConfig[string] | undefined): string {
  if (value === undefined || value === null) return ''
  return typeof value === 'object' ? JSON.stringify(value) : String(value)
}

/** Values of a form: typed values, else saved values, else defaults. */
export const valuesNow = (fields: readonly FormField[], typed: FormValues = {}): FormValues => ({
  ...valuesOf(fields),
  ...Object.fromEntries(Object.entries(typed).filter(([name]) => fields.some((field) => field.name === name))),
})

/**
 * The settings to send for a side, which replace all stored ones: values that differ from the defaults, and those of the
 * mapping step unchanged.
 */
export function settingsToSend(
  fields: readonly FormField[],
  values: FormValues,
  saved: ConnectionConfig = {},
): ConnectionConfig {
  const defaults = valuesOf(fields.map(({ value, ...field }) => field))
  return {
    ...withoutCleared(
      changesOf(
        defaults,
        values,
        fields.filter(({ readonly }) => !readonly),
      ),
    ),
    ...Object.fromEntries(
      Object.entries(saved).filter(
        ([name]) => ofMappingStep.includes(name) && !fields.some((field) => field.name === name),
      ),
    ),
  }
}

const withoutCleared = (changes: FieldChanges): ConnectionConfig =>
  Object.fromEntries(Object.entries(changes).filter(([, value]) => value !== null))

/** Whether what was typed differs from what is saved. */
export const isTyped = (fields: readonly FormField[], typed: FormValues = {}): boolean =>
  Object.keys(changesOf(valuesOf(fields), valuesNow(fields, typed))).length > 0
