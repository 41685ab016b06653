import type { Row, Values } from '@penstock/connector'
import { settingsPath } from '../../../map-rows.ts'
import { namesIn } from '../../../settings.ts'
import type { StageKind } from '../stage.ts'
import { packOutcomes } from './outcome-lines.ts'
import { keyReader, type Outcome, OutcomeRows } from './outcome-rows.ts'

/** Records the outcome of each row, for connections that read it (docs/outcomes.md). */
export const outcomes: StageKind = {
  name: 'outcomes',
  needs: ({ destination }) =>
    textOf(destination.settings.outcomes) === '' ? undefined : { values: 'the outcome of each of them is recorded' },
  async settingErrors({ settings }, columns) {
    if (textOf(settings.outcomes) === '') return []
    return chosenOf(settings)
      .filter((name) => !columns.includes(name))
      .map((name) => ({ field: `${settingsPath}.outcomeColumns`, message: `the source has no column “${name}”` }))
  },
  open({ state: { outcomes: of }, sides }) {
    if (!of) return undefined
    const rows = new OutcomeRows()
    // Read once: it fills in the defaults of all fields.
    const { settings } = sides
    const chosen = chosenOf(settings)
    const isWanted = settings.outcomeRows === 'Sent' ? (outcome: Outcome) => sentOutcomes.has(outcome) : () => true
    let keyOf = (_row: Row) => '{}'
    return {
      mark(mapped, { source }, first) {
        keyOf = keyReader(chosen, source.columns)
        rows.read(mapped, source.rows, first, keyOf)
        return mapped
      },
      added(result) {
        // A row that left the source has only the columns of the destination.
        rows.add(result, result.batch?.left ? keyReader(sides.columns, sides.columns) : keyOf, sides.removal)
        return undefined
      },
      async confirming(confirmation) {
        return { ...confirmation, outcomes: await packOutcomes(rows.taken(), of, Date.now(), isWanted) }
      },
    }
  },
}

const sentOutcomes: ReadonlySet<Outcome> = new Set(['accepted', 'rejected', 'removed', 'uncertain'])

const textOf = (value: unknown): string => String(value ?? '').trim()

/** The columns of the source that identify a row in its outcome. */
const chosenOf = ({ outcomeColumns }: Values): readonly string[] => namesIn(outcomeColumns)
