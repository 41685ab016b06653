import { getHeapStatistics } from 'node:v8'
import type { StageKind } from '../stage.ts'
import { DuplicateKeys } from './duplicate-keys.ts'
import { duplicateSettings, leavesOutDuplicates } from './duplicate-settings.ts'
import { Duplicates } from './duplicates.ts'

/** A runner has half of its memory as heap, which a transfer does not fill; keys may take almost as much. */
const keysPerHeap = 0.9

/** Sends one record of each key, and skips the others. */
export const duplicates: StageKind = {
  needsValues: ({ destination }) => (leavesOutDuplicates(destination.settings) ? 'duplicates are left out' : undefined),
  needsAllRows: ({ destination }) =>
    leavesOutDuplicates(destination.settings) ? 'duplicates are left out' : undefined,
  open({ sides, state, job, host, memory, openReader, mapBefore }) {
    const settings = duplicateSettings(sides.settings, sides.deliver.windowKeys?.(sides.settings))
    if (!settings) return undefined
    const keys = memory.of(duplicates, () => new DuplicateKeys(getHeapStatistics().heap_size_limit * keysPerHeap))
    const { removesBy } = sides
    const found = new Duplicates({ ...state, settings, keys, transferId: job.id, removesBy })
    let isEnded = false
    return {
      prepare: () => found.prepare(openReader, mapBefore),
      get seesAgain() {
        return found.seesAgain
      },
      seeAgain: (mapped, { source, mapping }, first) => found.seeAgain(source, mapped, mapping.columns, first),
      endAgain: (records) => found.endAgain(records),
      get sentence() {
        return found.sentence
      },
      restart: () => found.restart(),
      get lastNumber() {
        return found.lastNumber
      },
      mark: (mapped, { source, mapping }, first) => found.mark(source, mapped, mapping.columns, first),
      checkpointKey: 'sentKeys',
      added: ({ batch }) => (batch && !batch.left ? found.confirm(batch.first + batch.covered - 1) : undefined),
      async confirming(confirmation) {
        const text = found.takeNote()
        if (text !== undefined) await host.reportLine({ side: null, text })
        return confirmation
      },
      get holdsCursor() {
        return !isEnded && found.holdsCursor
      },
      end() {
        found.end()
        isEnded = true
      },
    }
  },
}
