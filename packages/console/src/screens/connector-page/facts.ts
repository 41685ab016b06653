import type { ConnectorDefinition, FieldDefinition, SideDefinition } from '@penstock/wire'
import { bytes, count } from '../../components/numbers.ts'
import { connectorPage as say } from '../../strings/catalogue.ts'
import { components } from '../../strings/components.ts'

/** The definition of a connector as lines of a page. Each text of a setting is the text of its form. */
export type Fact = { readonly label: string; readonly values: readonly string[] }

const columnsMax = 8

const fieldNamed = (side: SideDefinition, ...names: readonly string[]): FieldDefinition | undefined =>
  side.fields.find(({ name }) => names.includes(name))

/** The options of a setting, as its form shows them. */
const optionsOf = (field: FieldDefinition | undefined): readonly string[] =>
  field?.options?.map((option) => field.optionLabels?.[option] ?? option) ?? []

/** Settings that choose what is read, or what is done with it. */
const dataSettings = ['stream', 'objectType', 'preset', 'dataSourceType', 'format'] as const

function columnsFact({ records }: SideDefinition, none: string): Fact {
  const required = records.filter((one) => one.required).map(({ name }) => name)
  if (records.length === 0) return { label: say.columns, values: [none] }
  const names = records.slice(0, columnsMax).map(({ name }) => name)
  return {
    label: say.columns,
    values: [
      say.columnsNamed(names, records.length - names.length),
      ...(required.length > 0 ? [say.required(required)] : []),
    ],
  }
}

/** How the source reads: its data, cursor, deleted rows and backfills. */
export function factsOfSource(side: SideDefinition): Fact[] {
  const data = dataSettings.flatMap((name) => {
    const field = fieldNamed(side, name)
    const options = optionsOf(field)
    return field && options.length > 0 ? [{ label: field.label, values: [options.join(', ')] }] : []
  })
  const rows = optionsOf(fieldNamed(side, 'syncMode', 'filesToRead'))
  const isReport = fieldNamed(side, 'lookBackDays') !== undefined && rows.length === 0
  return [
    ...data,
    columnsFact(side, say.ownColumns),
    { label: say.rowsToRead, values: rows.length > 0 ? rows : [isReport ? say.reportDays : say.allRows] },
    { label: say.cursor, values: [cursorOf(side, isReport)] },
    { label: say.deletions, values: deletionsOf(side) },
    { label: say.past, values: [side.backfill ? say.pasts[side.backfill] : say.noPast] },
  ]
}

function cursorOf(side: SideDefinition, isReport: boolean): string {
  if (fieldNamed(side, 'markerColumn')) return say.cursorColumn
  if (fieldNamed(side, 'filesToRead')) return say.cursorFiles
  if (isReport) return say.reportDays
  return fieldNamed(side, 'syncMode') ? say.cursorOwn : say.cursorNone
}

function deletionsOf(side: SideDefinition): string[] {
  const vanished = fieldNamed(side, 'vanishedRows')
  if (side.changeLog) return [`${say.logDeletions}: ${optionsOf(fieldNamed(side, 'deletes')).join(', ')}`]
  if (vanished) return [`${say.reportDeletions}: ${optionsOf(vanished).join(', ')}`]
  const archived = fieldNamed(side, 'archived', 'includeDeleted', 'queryAll')
  return [archived ? archived.label : say.notReported]
}

/** How the destination writes: its columns, modes and deletions. */
export function factsOfDestination(side: SideDefinition): Fact[] {
  const modes = optionsOf(fieldNamed(side, 'writeMode', 'operation', 'action'))
  const actions = side.records.find(({ name, values }) => name === 'action' && values !== undefined)?.values
  const removes = side.removes
    ? say.removed
    : actions?.some((one) => /remove|delete/.test(one))
      ? say.removedByAction
      : say.notRemoved
  const creates = fieldNamed(side, 'createTable')
  const formats = optionsOf(fieldNamed(side, 'fileFormat'))
  return [
    columnsFact(side, say.anyColumns),
    { label: say.howWritten, values: modes.length > 0 ? modes : (actions ?? [say.add]) },
    { label: say.rowsToSend, values: optionsOf(fieldNamed(side, 'sendRows')) },
    { label: say.deletions, values: [removes] },
    ...(side.audienceSizes ? [{ label: say.audienceSizes, values: [say.yes] }] : []),
    ...(formats.length > 0
      ? [{ label: fieldNamed(side, 'fileFormat')?.label ?? '', values: [formats.join(', ')] }]
      : []),
    ...(creates ? [{ label: say.createsTable, values: [say.yes] }] : []),
  ].filter(({ values }) => values.length > 0)
}

/** The limits of a connector that are numbers. */
export function limitsOf({ destination, api }: ConnectorDefinition): Fact[] {
  const batch = destination?.batch
  return [
    ...(batch ? [{ label: say.batch, values: [say.batchRows(count(batch.rowsMax), bytes(batch.bytesMax))] }] : []),
    ...(api ? [{ label: say.apiEnds, values: [components.term(api.ends)] }] : []),
  ]
}

/** A text as its sentences. A full stop inside a name or a number ends none. */
export const sentencesOf = (text: string): string[] =>
  text
    .split(/(?<=[.!?])\s+(?=[\p{Lu}“‘])/u)
    .map((sentence) => sentence.trim())
    .filter(Boolean)

/** The tests of a connector, and the parts that nobody has checked. */
export function testsOf(tested: string): { readonly text: string; readonly isChecked: boolean }[] {
  return sentencesOf(tested)
    .flatMap((sentence) => sentence.split(/;\s+/))
    .map((text) => text.charAt(0).toUpperCase() + text.slice(1).replace(/\.$/, ''))
    .map((text) => ({ text, isChecked: !/^(?:not|no one|nobody|without)\b/i.test(text) }))
}
