import {
  type ColumnType,
  type Connector,
  ConnectorError,
  type RawSource,
  type Records,
  type Values,
} from '@penstock/connector'
import type { HashKey } from '@penstock/expressions'
import type { FieldError } from '@penstock/wire'
import { columnsDoNotFit } from './columns-do-not-fit.ts'
import type { ConsentPurpose } from './consent-purpose.ts'
import { planAsIs } from './mapping/as-is.ts'
import type { MappingStep } from './mapping/choose-columns.ts'
import type { MappedRows, MapperOptions, RowError, RowMapper } from './mapping/mapper.ts'
import type { MappingPlan } from './mapping/plan.ts'
import { type Mapping, readMapping } from './mapping/read-mapping.ts'

/** How the rows of one connection are mapped: the columns of its source, the records of its destination, and its mapping. */
export type RowMapping = {
  readonly plan: MappingPlan
  /** Settings that count for all fields. */
  readonly options: MapperOptions
  /** The columns that the destination gets. */
  readonly columns: readonly string[]
  /** The types of the mapped columns, from the types of a chunk. Only columns whose values pass unchanged have a type. */
  readonly typesOf: (types: ColumnTypes) => ColumnTypes
  readonly map: (...given: Parameters<RowMapper>) => Pick<MappedRows, 'rows' | 'errors'>
  /**
   * The same for raw rows: columns that pass unchanged are not decoded. Absent if nothing is changed, or if rows must be values.
   */
  readonly raw?: RawMapping | undefined
  /** Whether expressions are computed, so that many rows take a long time. */
  readonly computes: boolean
  /** Fields that are in the plan only because purposes fill them. */
  readonly consentFields: readonly string[]
}

/** How raw rows are mapped. */
export type RawMapping = {
  /** The source of each column of the destination. */
  readonly view: readonly RawSource[]
  /** The columns of the source that `map` reads, in ascending order. */
  readonly reads: readonly number[]
  /** Computes the changed values of rows that have only these columns. */
  readonly map: (...given: Parameters<RowMapper>) => Pick<MappedRows, 'rows' | 'errors'>
}

/** In the order of the columns; `undefined` if no column has a type. */
export type ColumnTypes = readonly (ColumnType | null)[] | undefined

/** A valid mapping, or every error of an invalid one. */
export type PlannedRows =
  | { readonly mapping: RowMapping; readonly fieldErrors?: never }
  | { readonly mapping?: never; readonly fieldErrors: readonly FieldError[] }

type FittingRows = { readonly mapping?: RowMapping; readonly fieldErrors: readonly FieldError[] }

/** The path of the settings of a destination in a request. */
export const settingsPath = 'destConnectionConfig'
const path = `${settingsPath}.mapping`

/** The inputs of a mapping: the settings of the connection, the hash key of its configuration, the purposes of its sub-account. */
export type MappingValues = {
  readonly settings: Values
  readonly secrets: Values
  /** The consent purposes of the sub-account, which fill consent fields. */
  readonly purposes?: readonly ConsentPurpose[] | null | undefined
}

/** Finds errors of other settings that depend on the columns of the source. */
export type SettingErrors = (values: MappingValues, columns: readonly string[]) => Promise<readonly FieldError[]>

/** Plans the mapping of a connection. If it is invalid, returns every error. @param others finds the errors of other settings */
export async function planRows(
  connector: Connector,
  columns: readonly string[],
  values: MappingValues,
  others?: SettingErrors,
): Promise<PlannedRows> {
  const { mapping, fieldErrors } = await planFittingRows(connector, columns, values, others)
  return mapping && fieldErrors.length === 0 ? { mapping } : { fieldErrors }
}

/** Plans the valid entries of a mapping, and returns the errors of the rest. Plans nothing if the mapping cannot be read. */
export async function planFittingRows(
  { destination }: Connector,
  columns: readonly string[],
  { settings, secrets, purposes }: MappingValues,
  others?: SettingErrors,
): Promise<FittingRows> {
  const { mapping, fieldErrors } = readMapping(
    settings.mapping === undefined ? undefined : String(settings.mapping),
    path,
  )
  if (fieldErrors.length > 0) return { fieldErrors }
  const { country, defaultCountry, defaultTimezone } = settings
  const options = {
    ...(defaultCountry === undefined ? {} : { defaultCountry: String(defaultCountry) }),
    ...(country === undefined ? {} : { country: String(country) }),
    ...(defaultTimezone === undefined ? {} : { defaultTimezone: String(defaultTimezone) }),
  }
  const hashKey = secrets.hashKey === undefined ? undefined : String(secrets.hashKey)
  const planned = await plan(
    { records: destination?.records, columns, mapping, hashKey, purposes: purposes ?? [] },
    options,
  )
  const errors = (await others?.({ settings, secrets }, columns)) ?? []
  return { ...planned, fieldErrors: [...planned.fieldErrors, ...errors] }
}

/** The plan by which all columns of a source pass under their own names. */
export const planUnmapped = (columns: readonly string[]): Promise<FittingRows> => plan({ columns })

type Planned = HashKey & {
  readonly records: Records | undefined
  readonly mapping: Mapping | undefined
  readonly purposes: readonly ConsentPurpose[]
}

async function plan(
  { records, columns, mapping, hashKey, purposes = [] }: Partial<Planned> & { columns: readonly string[] },
  options: MapperOptions = {},
): Promise<FittingRows> {
  if (!records && !mapping && columns.length > 0) {
    const untouched = {
      options,
      columns,
      plan: planAsIs(columns),
      typesOf: (types: ColumnTypes) => types,
      map: (rows: Parameters<RowMapper>[0]) => ({ rows, errors: none }),
      computes: false,
      consentFields: [],
    }
    return { mapping: untouched, fieldErrors: [] }
  }
  // Its tables of phone numbers and countries take long to load, and many transfers do not need them.
  const { createMapper, defaultCountryErrors, defaultTimezoneErrors, passesUnchanged, planWhatFits } = await import(
    './mapping/mapping.ts'
  )
  const given = { records, columns, path, hashKey }
  const own = planWhatFits({ ...given, mapping })
  const consents = consentValues(records, purposes, own.plan.columns)
  const planned =
    consents.size > 0 ? planWhatFits({ ...given, mapping: { ...mapping, ...Object.fromEntries(consents) } }) : own
  const settingErrors = [
    ...defaultCountryErrors(options.defaultCountry, `${settingsPath}.defaultCountry`),
    ...defaultTimezoneErrors(options.defaultTimezone, `${settingsPath}.defaultTimezone`),
  ]
  const fieldErrors = [...planned.fieldErrors, ...settingErrors]
  // Settings for all fields that are invalid leave nothing that could be shown.
  if (settingErrors.length > 0) return { fieldErrors }
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
      map: createMapper(planned.plan, options),
      raw: records
        ? undefined
        : rawMappingOf(
            planned.plan,
            columns,
            (step) => passesUnchanged(step, options),
            (made) => createMapper(made, options),
          ),
      computes: planned.plan.steps.some(({ expression }) => expression),
      consentFields: [...consents.keys()],
    },
  }
}

/** Maps only the columns that do not pass unchanged. `undefined` if columns depend on each other. */
function rawMappingOf(
  plan: MappingPlan,
  columns: readonly string[],
  passes: (step: MappingStep) => boolean,
  mapperOf: (plan: MappingPlan) => RowMapper,
): RawMapping | undefined {
  if (plan.oneOf.length > 0 || plan.together.length > 0) return undefined
  const made = plan.steps.filter((step) => !passes(step))
  const expressions = [...made.map(({ expression }) => expression), plan.countryExpression]
  const names = new Set(expressions.flatMap((expression) => expression?.columns ?? []))
  const read = new Set([...made.map(({ column }) => column?.index), plan.countryIndex])
  return {
    view: plan.steps.map((step) => {
      const at = made.indexOf(step)
      return at >= 0 ? { made: at } : { column: step.column?.index ?? -1 }
    }),
    reads: [...columns.keys()].filter((at) => read.has(at) || names.has(columns[at] as string)),
    map: mapperOf({ ...plan, asIs: false, columns: made.map(({ field }) => field), steps: made }),
  }
}

/** Consent fields that no column fills, with a value of each that the stage `consent` replaces in each row. */
function consentValues(
  records: Records | undefined,
  purposes: readonly ConsentPurpose[],
  filled: readonly string[],
): ReadonlyMap<string, { readonly value: string }> {
  const fields = Object.entries(records ?? {}).flatMap(([name, { consent }]): [string, { value: string }][] =>
    consent && !filled.includes(name) && purposes.some(({ uses }) => uses.includes(consent.use))
      ? [[name, { value: consent.granted ?? consent.denied ?? '' }]]
      : [],
  )
  return new Map(fields)
}

const none: ReadonlyMap<number, RowError> = new Map()

/**
 * The same for a transfer. If the columns are invalid, it fails with the same error as if the destination lacked a column. In
 * both cases a person must change the settings, so the connection is broken.
 */
export async function requireMapping(
  destination: Connector,
  columns: readonly string[],
  values: MappingValues,
  others?: SettingErrors,
): Promise<RowMapping> {
  const { mapping, fieldErrors } = await planRows(destination, columns, values, others)
  if (mapping) return mapping
  const { code, message, side } = columnsDoNotFit(fieldErrors)
  throw new ConnectorError(code, message, { side })
}
