import type {
  ColumnType,
  ConnectorContext,
  FileLoader,
  LoadContext,
  LoadGroup,
  LoadPart,
  LoadRejection,
} from '@penstock/connector'
import {
  assertSomeAccepted,
  badRows,
  isGoodSql,
  type LoadedColumn,
  misfitsOf,
  notAsManyRows,
  type RowMisfit,
} from './loaded-rows.ts'
import { whyNotTypes } from './loaded-types.ts'
import type { TargetColumn } from './table.ts'

/**
 * A warehouse that loads files itself: into a staging table of texts, which it judges by the rules of a worker, and from there into the
 * table, once for a group (docs/decisions/handover.md).
 */
export type Handover<Column extends TargetColumn, Opened extends { readonly columns: readonly Column[] }> = {
  readonly platform: string
  /** Files of one statement. */
  readonly filesMax: number
  /** The staging table's column for a column of the source, as statements name it. */
  readonly stagedName: (index: number) => string
  /** How a column is filled from SQL of a staged text. `undefined` for a type whose texts only a worker can parse. */
  readonly loadedColumn: (column: Column, text: string) => LoadedColumn | undefined
  /** Whether the column holds texts, floating-point numbers or times, which have several notations. */
  readonly holdsOf: (column: Column) => 'texts' | 'floats' | 'times' | 'others'
  /** Whether values of a type in Parquet have other texts in the warehouse than in a worker. */
  readonly isUnread?: (type: ColumnType | null) => boolean
  /** Opens the table. Creates it if the settings allow that. Throws a `ConnectorError`. */
  readonly open: (context: LoadContext) => Promise<Opened>
  /** The columns of an existing table. `undefined` if the table does not exist. */
  readonly find: (context: ConnectorContext & Pick<LoadContext, 'columns'>) => Promise<readonly Column[] | undefined>
  /** Removes what earlier attempts left, and returns the staging of this one. */
  readonly begin: (context: LoadContext, opened: Opened) => Promise<StagingTable>
}

/** The staging table of an attempt. */
export type StagingTable = {
  /** Creates it empty. */
  readonly reset: (group: LoadGroup) => Promise<void>
  /**
   * Loads files of one form.
   * @param number of the part in its group @param rejectsMax rows that are returned one by one
   * @returns rows that could not be read, and the number of loaded ones if the warehouse reports it
   */
  readonly load: (
    part: LoadPart,
    at: { readonly group: LoadGroup; readonly number: number; readonly rejectsMax: number },
  ) => Promise<{ readonly staged?: number; readonly unread: readonly LoadRejection[] }>
  /** SQL of the staged texts, to follow `from`. */
  readonly texts: () => string
  /** Runs a query, and returns its rows as texts. */
  readonly ask: (text: string) => Promise<readonly (readonly (string | null)[])[]>
  /** Rows that the warehouse staged although it could not read them. */
  readonly misfits?: readonly RowMisfit[]
  /** How many rejected rows one answer can contain. */
  readonly recordsMax?: number
  /** Examines the good rows before they are written. Throws a `ConnectorError`. */
  readonly assertWritable?: (rows: GoodRows) => Promise<void>
  /** Writes the good rows, once for a key. */
  readonly commit: (rows: GoodRows, key: string) => Promise<void>
  readonly close: () => Promise<void>
}

/** Staged rows without a misfit. */
export type GoodRows = {
  /** SQL of the value of each column of the table. */
  readonly values: readonly string[]
  /** `from …` with the condition that leaves the others out. */
  readonly from: string
  readonly accepted: number
}

/** SQL of values under the names `v0`, `v1` and so on. */
export const numbered = (values: readonly string[]): string =>
  values.map((value, index) => `${value} as v${index}`).join(', ')

export function handoverOf<Column extends TargetColumn, Opened extends { readonly columns: readonly Column[] }>(
  handover: Handover<Column, Opened>,
) {
  const { platform, filesMax, stagedName, loadedColumn, holdsOf, isUnread, open, find, begin } = handover

  function whyNot(columns: readonly Column[], context: Pick<LoadContext, 'picked' | 'sourceTypes'>) {
    const shown = ({ type, typeName = type }: Column) => typeName.replace(/<.*$/s, '')
    const other = columns.find((column) => loadedColumn(column, '') === undefined)
    if (other) return `the column ${other.name} of the table has the type ${shown(other)}`
    const { picked, sourceTypes } = context
    const unread = picked.find((at) => sourceTypes && isUnread?.(sourceTypes[at] ?? null))
    const column = unread === undefined ? undefined : columns[picked.indexOf(unread)]
    if (unread !== undefined && column) {
      return `the files have the type ${sourceTypes?.[unread]?.kind} for the column ${column.name}, whose texts are other ones in ${platform}`
    }
    return whyNotTypes(
      context,
      columns.map((each) => ({ name: each.name, type: each.type, holds: holdsOf(each) })),
    )
  }

  return {
    /** Why the table is filled by a worker: the end of a sentence. */
    async whyNotTable(
      context: ConnectorContext & Pick<LoadContext, 'columns' | 'picked' | 'sourceTypes'>,
    ): Promise<string | undefined> {
      const columns = await find(context)
      return columns && whyNot(columns, context)
    },

    async openLoader(context: LoadContext): Promise<FileLoader | { readonly whyNot: string }> {
      const opened = await open(context)
      const other = whyNot(opened.columns, context)
      if (other !== undefined) return { whyNot: other }
      const { picked, columns: delivered, sourceColumns } = context
      const loaded = opened.columns.flatMap((column, at) => loadedColumn(column, stagedName(picked[at] ?? -1)) ?? [])
      const staging = await begin(context, opened)
      const misfits = [...(staging.misfits ?? []), ...misfitsOf(loaded, delivered)]
      let accepted = 0
      const goodRows = (): GoodRows => ({
        values: loaded.map(({ value }) => value),
        from: `from ${staging.texts()} where ${isGoodSql(misfits)}`,
        accepted,
      })
      return {
        async stage(group, rejectsMax) {
          await staging.reset(group)
          const unread: LoadRejection[] = []
          let counted: number | undefined = 0
          for (const [number, part] of partsOf(group, filesMax).entries()) {
            const done = await staging.load(part, { group, number, rejectsMax })
            counted = done.staged === undefined || counted === undefined ? undefined : counted + done.staged
            unread.push(...done.unread)
          }
          const bounded = boundedRejections(platform, unread, rejectsMax)
          const single = bounded.reduce((sum, { count }) => sum + (count === 1 ? 1 : 0), 0)
          const found = await badRows(
            staging.ask,
            { platform, staging: staging.texts(), misfits, names: sourceColumns.map((_, index) => stagedName(index)) },
            Math.min(rejectsMax - single, staging.recordsMax ?? Number.POSITIVE_INFINITY),
          )
          if (counted !== undefined && found.staged !== counted) throw notAsManyRows(platform)
          const rejected = [...bounded, ...found.rejected]
          const rows = found.staged + countOfAll(unread)
          accepted = rows - countOfAll(rejected)
          assertSomeAccepted(platform, { rows, rejected })
          await staging.assertWritable?.(goodRows())
          return { rows, rejected }
        },
        commit: ({ key }) => staging.commit(goodRows(), key),
        close: staging.close,
      }
    },
  }
}

const countOfAll = (rejections: readonly LoadRejection[]): number =>
  rejections.reduce((sum, { count }) => sum + count, 0)

/** The files of a group, divided into as many parts as their statements need. */
const partsOf = ({ parts }: LoadGroup, filesMax: number): LoadPart[] =>
  parts.flatMap(({ form, files }) =>
    Array.from({ length: Math.ceil(files.length / filesMax) }, (_, at) => ({
      form,
      files: files.slice(at * filesMax, (at + 1) * filesMax),
    })),
  )

/** The same rejections, of which at most some are returned one by one. */
function boundedRejections(platform: string, unread: readonly LoadRejection[], rejectsMax: number): LoadRejection[] {
  const left = countOfAll(unread.slice(rejectsMax))
  const kept = unread.slice(0, rejectsMax)
  return left > 0 ? [...kept, { count: left, reason: `${platform} cannot read the row.` }] : kept
}
