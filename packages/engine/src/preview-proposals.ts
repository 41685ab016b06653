import { type Connector, kindOfValues, type Row, typeWords, type Values } from '@penstock/connector'
import type { Preview } from '@penstock/wire'
import type { ColumnTypes } from './map-rows.ts'
import { isPersonal, type Showing, shorten } from './mapping/shorten.ts'
import type { SideSecrets } from './side-secrets.ts'

/** The columns that are proposed for the fields of a destination; nothing if it accepts any columns. */
export async function proposalsFor(
  { destination }: Connector,
  { columns }: Pick<Preview, 'columns'>,
  settings: Values,
): Promise<Pick<Preview, 'matches'>> {
  if (!destination?.records) return {}
  const { matchColumns, readMapping } = await import('./mapping/mapping.ts')
  const { mapping } = readMapping(settings.mapping === undefined ? undefined : String(settings.mapping), '')
  return {
    matches: matchColumns(destination.records, columns, mapping).map(({ field, column, candidates, byDefault }) => ({
      field,
      column: column ?? null,
      candidates: [...candidates],
      byDefault: byDefault ?? null,
    })),
  }
}

/** The types of the columns in the source. */
export const sourceTypesOf = ({ columns, types, rows }: SourceRows): Pick<Preview, 'sourceTypes'> => ({
  sourceTypes: columns.map((_, at) => {
    const type = types?.[at]
    return (type ? typeWords(type) : kindOfValues(rows.map((row) => row[at] ?? null))) ?? null
  }),
})

type SourceRows = { columns: readonly string[]; types: ColumnTypes; rows: readonly Row[] }

/** Whether a destination has types and accepts any columns, so that readings are proposed. */
export const takesReadings = ({ destination }: Connector): boolean =>
  !destination?.records && destination?.columnTypes !== undefined

/** How values of the source can be read, for a destination that takes readings. */
export async function readingsFor(
  destination: Connector,
  { columns, types, rows }: SourceRows,
  showing: Showing,
  redact: SideSecrets['redact'],
): Promise<Pick<Preview, 'readings'>> {
  if (!takesReadings(destination)) return {}
  const { proposeReadings } = await import('./mapping/mapping.ts')
  const found = proposeReadings(columns, rows, types)
  if (found.length === 0) return {}
  const readings = found.map(({ choices, others, ...of }) => {
    const personal = isPersonal({ field: of.column, definition: undefined })
    const show = (value: string) => redact(shorten(value, personal, showing) ?? '')
    return {
      ...of,
      choices: choices.map((one) => ({ ...one, before: show(one.before), after: show(one.after) })),
      others: others.map(show),
    }
  })
  return { readings }
}
