import type { Rejected } from '../../confirmation.ts'
import type { SeenAgain, StageKind } from '../stage.ts'
import { RuleWatch } from './rule-watch.ts'
import { UniqueValues } from './unique-values.ts'

/** Judges the records of the source, and stops a transfer that breaks a rule. */
export const rules: StageKind = {
  name: 'rules',
  needs: (state) => ({
    values: state.rules?.list.length ? 'the rules of the connection judge its records' : undefined,
    allRows: state.rules ? 'the rules of the connection judge all of them' : undefined,
  }),
  open({ state, host, memory, sides }) {
    const unique = memory.of(rules, () => new UniqueValues())
    const watch = RuleWatch.of(state, host, unique, () => sides.sourceColumns)
    if (!watch) return undefined
    return {
      prepare() {
        const again: SeenAgain = {
          see(mapped, { source }, first) {
            watch.countAgain(source, mapped, first)
            return mapped
          },
        }
        return {
          again: watch.needsAgain ? again : undefined,
          judge: watch.stops ? watch.inAdvance() : undefined,
        }
      },
      sending: async (batch) => {
        if (!batch.left) await watch.check(batch)
      },
      added({ batch, rejectedFrom, rejects }) {
        // Rows that left the source are no records of it.
        return { rules: rejectedFrom?.left ? watch.add(undefined, 0) : watch.add(batch, sumOf(rejects)) }
      },
      finish: () => watch.end(),
    }
  },
}

const sumOf = (rejects: readonly Rejected[]): number => rejects.reduce((sum, { count }) => sum + count, 0)
