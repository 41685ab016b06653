import {
  asConnectorError,
  type Connector,
  type ConnectorContext,
  type Destination,
  type RawFormat,
  type SourceContext,
} from '@penstock/connector'
import type { RowMapping } from '../../map-rows.ts'
import type { TransferState } from '../../protocol.ts'

/**
 * Whether the rows of a transfer pass as raw rows (docs/decisions/raw-rows.md): bytes of the source that the destination accepts,
 * and that are not decoded in between. This is the only place that decides it. A reader that could return raw rows can still
 * return values, for reasons of its connector, such as `whyNotRaw` of PostgreSQL.
 */

/** The parts of a transfer that decide it. */
export type RawSides = {
  readonly source: Connector | undefined
  readonly destination: Connector
  readonly state: Pick<TransferState, 'replay' | 'testRows'>
  /** The stages of the session, by their names, that need the values of all rows. */
  readonly readers: readonly string[]
}

/** The forms in which rows can pass, or why they must be values, as the end of a sentence. */
export type RawRoute = { readonly formats: readonly RawFormat[] } | { readonly whyNot: string }

export function rawRouteOf({ source, destination, state, readers }: RawSides): RawRoute {
  const { name } = destination
  const offered = source?.source?.rawFormats ?? []
  const formats = (destination.destination?.deliver?.rawFormats ?? []).filter((format) => offered.includes(format))
  if (state.replay || !source) return { whyNot: 'rejected records are kept as values' }
  if (formats.length === 0) return { whyNot: `${source.name} and ${name} have no form of rows in common` }
  if (state.testRows !== null) return { whyNot: 'a test sends few rows' }
  if (destination.destination?.records) return { whyNot: `${name} has fields of its own` }
  const [reader] = readers
  return reader === undefined ? { formats } : { whyNot: `the stage ${reader} reads the values of all rows` }
}

/**
 * How a source asks whether the destination takes its raw rows.
 * @param formats in which rows can pass
 * @param context of the destination
 * @param mappingFor the mapping of the columns of the source
 */
export const takesRawOf =
  (
    formats: readonly RawFormat[],
    { takesRaw }: Pick<Destination, 'takesRaw'>,
    context: ConnectorContext,
    mappingFor: (columns: readonly string[]) => RowMapping | Promise<RowMapping>,
  ): NonNullable<SourceContext['takesRaw']> =>
  async ({ format, columns }) => {
    if (!formats.includes(format)) return false
    if (!takesRaw) return true
    try {
      const { columns: names, plan, raw } = await mappingFor(columns.map(({ name }) => name))
      const mapped = names.map((name, at) => {
        const column = columns[plan.asIs ? at : (raw?.view[at]?.column ?? -1)]
        return column && { ...column, name }
      })
      return await takesRaw(context, format, mapped)
    } catch (error) {
      context.signal.throwIfAborted()
      // The transfer meets the problem again when it maps the first rows, or opens the destination.
      if (asConnectorError(error)) return false
      throw error
    }
  }
