import { getHeapStatistics } from 'node:v8'
import type { SeenAgain, StageKind } from '../stage.ts'
import { DuplicateKeys } from './duplicate-keys.ts'
import { duplicateSettings, leavesOutDuplicates } from './duplicate-settings.ts'
import { Duplicates } from './duplicates.ts'

/** The heap of a runner is half of its memory, and a transfer does not fill it. Keys can use almost as much memory. */
const keysPerHeap = 0.9

export const duplicates: StageKind = {
  name: 'duplicates',
  needs({ destination }) {
    const why = leavesOutDuplicates(destination.settings) ? 'duplicates are left out' : undefined
    return { values: why, allRows: why }
  },
  open({ sides, state, job, host, memory, openReader, mapBefore }) {
    const settings = duplicateSettings(sides.settings, sides.deliver.windowKeys?.(sides.settings))
    if (!settings) return undefined
    const keys = memory.of(duplicates, () => new DuplicateKeys(getHeapStatistics().heap_size_limit * keysPerHeap))
    const { removesBy } = sides
    const found = new Duplicates({ ...state, settings, keys, transferId: job.id, removesBy })
    let isEnded = false
    return {
      async prepare() {
        await found.prepare(openReader, mapBefore)
        const { sentence, lastNumber, seesAgain } = found
        const again: SeenAgain = {
          see: (mapped, { source, mapping }, first) => found.seeAgain(source, mapped, mapping.columns, first),
          end: (records) => found.endAgain(records),
        }
        return { sentence, lastNumber, again: seesAgain ? again : undefined }
      },
      /** Records that a guard marked before do not count any more, also if the source has no rows now. */
      opened() {
        found.restart()
        return undefined
      },
      mark: (mapped, { source, mapping }, first) => found.mark(source, mapped, mapping.columns, first),
      added: ({ batch }) =>
        batch && !batch.left ? { sentKeys: found.confirm(batch.first + batch.covered - 1) } : undefined,
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
