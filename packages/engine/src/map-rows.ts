import {
  type Chunk,
  type ColumnType,
  type Connector,
  ConnectorError,
  type Records,
  type Values,
} from '@penstock/connector'
import type { HashKey } from '@penstock/expressions'
import type { FieldError } from '@penstock/wire'
import { columnsDoNotFit } from './columns-do-not-fit.ts'
import type { MapRows } from './expressions/filter.ts'
import { planAsIs } from './mapping/as-is.ts'
import type { MapperOptions, RowError } from './mapping/mapper.ts'
import type { MappingPlan } from './mapping/plan.ts'
import { type Mapping, readMapping } from './mapping/read-mapping.ts'

/** How the rows of one connection are mapped: the columns of its source, the records of its destination, its own mapping. */
export type RowMapping = {
  readonly plan: MappingPlan
  /** Settings that count for all fields. */
  readonly options: MapperOptions
  /** The columns that the destination gets. */
  readonly columns: readonly string[]
  /** The types of those columns by the types of a chunk: of each whose values pass unchanged. */
  readonly typesOf: (types: ColumnTypes) => ColumnTypes
  readonly map: (...given: Parameters<MapRows>) => ReturnType<MapRows> | Promise<ReturnType<MapRows>>
}

/** In the order of the columns; `undefined` if none has a type. */
export type ColumnTypes = readonly (ColumnType | null)[] | undefined

/** A mapping that can be followed, or every error of one that cannot. */
export type PlannedRows =
  | { readonly mapping: RowMapping; readonly fieldErrors?: never }
  | { readonly mapping?: never; readonly fieldErrors: readonly FieldError[] }

type FittingRows = { readonly mapping?: RowMapping; readonly fieldErrors: readonly FieldError[] }

/** The same before rows are mapped in slices. */
type PlainRows = {
  readonly mapping?: Omit<RowMapping, 'map'> & { readonly map: MapRows }
  readonly fieldErrors: readonly FieldError[]
}

const settingsPath = 'destConnectionConfig'
const path = `${settingsPath}.mapping`

/** The values of a destination that a mapping depends on: the settings of the connection, and the hash key of its configuration. */
export type MappingValues = { readonly settings: Values; readonly secrets: Values }

/** Plans the mapping of a connection, with every error if there is none. */
export async function planRows(
  connector: Connector,
  columns: readonly string[],
  values: MappingValues,
): Promise<PlannedRows> {
  const { mapping, fieldErrors } = await planFittingRows(connector, columns, values)
  return mapping && fieldErrors.length === 0 ? { mapping } : { fieldErrors }
}

/** Plans as much of the mapping of a connection as is valid, and the errors of the rest; nothing if it cannot be read. */
export async function planFittingRows(
  { destination }: Connector,
  columns: readonly string[],
  { settings, secrets }: MappingValues,
): Promise<FittingRows> {
  const { mapping, fieldErrors } = readMapping(
    settings.mapping === undefined ? undefined : String(settings.mapping),
    path,
  )
  if (fieldErrors.length > 0) return { fieldErrors }
  const { country, defaultCountry, defaultTimezone, filter } = settings
  const options = {
    ...(defaultCountry === undefined ? {} : { defaultCountry: String(defaultCountry) }),
    ...(country === undefined ? {} : { country: String(country) }),
    ...(defaultTimezone === undefined ? {} : { defaultTimezone: String(defaultTimezone) }),
  }
  const hashKey = secrets.hashKey === undefined ? undefined : String(secrets.hashKey)
  const planned = await plan({ records: destination?.records, columns, mapping, hashKey }, options)
  const text = String(filter ?? '').trim()
  const computes = planned.mapping?.plan.steps.some(({ expression }) => expression)
  return text === '' && !computes ? planned : withExpressions(planned, columns, { text, hashKey })
}

/** The same with a filter, if there is one, and in slices. A filter that is invalid leaves out nothing, and is among the errors. */
async function withExpressions(
  { mapping, fieldErrors }: PlainRows,
  columns: readonly string[],
  { text, hashKey }: HashKey & { text: string },
): Promise<FittingRows> {
  const [{ compileFilter }, { filtering }, { inSlices }] = await Promise.all([
    import('@penstock/expressions'),
    import('./expressions/filter.ts'),
    import('./expressions/slices.ts'),
  ])
  const { expression, wrong } = text === '' ? {} : compileFilter(text, columns, { hashKey })
  const all = wrong === undefined ? fieldErrors : [...fieldErrors, { field: `${settingsPath}.filter`, message: wrong }]
  if (!mapping) return { fieldErrors: all }
  const map = expression ? filtering(expression, mapping.map) : mapping.map
  return { mapping: { ...mapping, map: inSlices(map) }, fieldErrors: all }
}

/** The plan by which all columns of a source pass under their own names. */
export const planUnmapped = (columns: readonly string[]): Promise<FittingRows> => plan({ columns })

type Planned = HashKey & { readonly records: Records | undefined; readonly mapping: Mapping | undefined }

async function plan(
  { records, columns, mapping, hashKey }: Partial<Planned> & { columns: readonly string[] },
  options: MapperOptions = {},
): Promise<PlainRows> {
  if (!records && !mapping && columns.length > 0) {
    const untouched = {
      options,
      columns,
      plan: planAsIs(columns),
      typesOf: (types: ColumnTypes) => types,
      map: ({ rows }: Pick<Chunk, 'rows'>) => ({ rows, errors: none }),
    }
    return { mapping: untouched, fieldErrors: [] }
  }
  // With its tables of phone numbers and countries this takes long to load, and many transfers do without it.
  const { createMapper, defaultCountryErrors, defaultTimezoneErrors, passesUnchanged, planWhatFits } = await import(
    './mapping/mapping.ts'
  )
  const planned = planWhatFits({ records, columns, mapping, path, hashKey })
  const settingErrors = [
    ...defaultCountryErrors(options.defaultCountry, `${settingsPath}.defaultCountry`),
    ...defaultTimezoneErrors(options.defaultTimezone, `${settingsPath}.defaultTimezone`),
  ]
  const fieldErrors = [...planned.fieldErrors, ...settingErrors]
  // Settings for all fields that are invalid leave nothing that could be shown.
  if (settingErrors.length > 0) return { fieldErrors }
  const map = createMapper(planned.plan, options)
  return {
    fieldErrors,
    mapping: {
      options,
      columns: planned.plan.columns,
      plan: planned.plan,
      typesOf: (types) =>
        types &&
        planned.plan.steps.map((step) =>
          passesUnchanged(step, options) ? (types[step.column?.index ?? -1] ?? null) : null,
        ),
      map: ({ rows, errors }) => map(rows, errors),
    },
  }
}

const none: ReadonlyMap<number, RowError> = new Map()

/**
 * The same for a transfer. If the columns are invalid, it fails as it does where the destination lacks a column: both are
 * settings that a person must change, so the connection is broken.
 */
export async function requireMapping(
  destination: Connector,
  columns: readonly string[],
  values: MappingValues,
): Promise<RowMapping> {
  const { mapping, fieldErrors } = await planRows(destination, columns, values)
  if (mapping) return mapping
  const { code, message, side } = columnsDoNotFit(fieldErrors)
  throw new ConnectorError(code, message, { side })
}
