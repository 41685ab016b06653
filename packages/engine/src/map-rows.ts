import { type Chunk, type Connector, Outcome, type Row, type Values } from '@penstock/connector'
import type { Fault } from '@penstock/wire'
import { createMapper, type RowFault } from './mapping/mapper.ts'
import { type MappingPlan, planMapping } from './mapping/plan.ts'
import { readMapping } from './mapping/read-mapping.ts'

/** How the rows of one connection are mapped: the columns of its source, the records of its destination, its own mapping. */
export type RowMapping = {
  readonly plan: MappingPlan
  /** The columns that the destination gets. */
  readonly columns: readonly string[]
  readonly map: (chunk: Pick<Chunk, 'rows' | 'faults'>) => {
    rows: readonly Row[]
    faults: ReadonlyMap<number, RowFault>
  }
}

/** Plans a mapping, with every fault where there is none. */
export function planRows(
  destination: Connector,
  columns: readonly string[],
  settings: Values,
): { mapping: RowMapping; faults?: never } | { mapping?: never; faults: readonly Fault[] } {
  const path = 'destConnectionConfig.mapping'
  const given = readMapping(settings.mapping === undefined ? undefined : String(settings.mapping), path)
  if (given.faults.length > 0) return { faults: given.faults }
  const { plan, faults } = planMapping({
    records: destination.destination?.records,
    columns,
    mapping: given.mapping,
    path,
  })
  if (!plan) return { faults }
  const country = settings.defaultCountry
  return { mapping: mapBy(plan, country === undefined ? {} : { defaultCountry: String(country) }) }
}

/** The plan by which all columns of a source pass under their own names. */
export function planUnmapped(columns: readonly string[]): ReturnType<typeof planRows> {
  const { plan, faults } = planMapping({ records: undefined, columns, mapping: undefined })
  return plan ? { mapping: mapBy(plan) } : { faults }
}

function mapBy(plan: MappingPlan, options: Parameters<typeof createMapper>[1] = {}): RowMapping {
  const map = createMapper(plan, options)
  return { plan, columns: plan.columns, map: ({ rows, faults: broken }) => map(rows, broken) }
}

/**
 * The same for a transfer. Where the columns do not fit, it fails as it does where the destination lacks a column: both are
 * settings that a person must change, so the connection is broken.
 */
export function requireMapping(destination: Connector, columns: readonly string[], settings: Values): RowMapping {
  const { mapping, faults } = planRows(destination, columns, settings)
  if (mapping) return mapping
  const said = faults.map(({ field, message }) => `${field}: ${message}`).join('; ')
  throw new Outcome('refused', 'columns_do_not_fit', `The columns of the source do not fit the destination. ${said}`)
}
