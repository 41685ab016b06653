import { type Connector, type Fields, fieldsOfRole, type Values } from '@penstock/connector'
import type { Role } from '@penstock/wire'

/** Values with the defaults of their fields filled in. */
export function withDefaults(fields: Fields, values: Values): Values {
  const defaults = Object.entries(fields).flatMap(([key, field]) =>
    field.default === undefined ? [] : [[key, field.default] as const],
  )
  return { ...Object.fromEntries(defaults), ...values }
}

/** The connection settings of one side, defaults filled in. */
export const sideSettings = (connector: Connector, role: Role, values: Values): Values =>
  withDefaults(fieldsOfRole(connector, role), values)

/** Whether only changed rows are sent with these settings of a destination. A mirror also sends only changed rows. */
export const sendsChangedRows = ({ sendRows }: Values): boolean => sendRows === 'Changed' || sendRows === 'Mirror'

/** Whether rows that left the source are removed at the destination with these settings of it. */
export const mirrorsRows = ({ sendRows }: Values): boolean => sendRows === 'Mirror'

/** Settings of both sides of a connection, or the settings of one of its tables that replace them. */
export type SettingsOfSides = { readonly source: Values; readonly destination: Values }

/** The settings with which one table of a connection is moved. */
export const settingsForTable = (connection: SettingsOfSides, table: SettingsOfSides): SettingsOfSides => ({
  source: { ...connection.source, ...table.source },
  destination: { ...connection.destination, ...table.destination },
})

/** The names in a setting that lists columns, separated by commas. Empty ones are ignored. */
export const namesIn = (value: unknown): readonly string[] =>
  String(value ?? '')
    .split(',')
    .map((name) => name.trim())
    .filter((name) => name !== '')
