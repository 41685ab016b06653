import { openChangedRows } from '../changed-rows/opened.ts'
import type { StageKind } from '../stage.ts'
import { removalsOf } from './mirror-removals.ts'

/**
 * Removes rows at the destination that were removed from the source. `ChangedRows` informs the mirror of the keys of the source.
 */
export const mirror: StageKind = {
  name: 'mirror',
  // A mirror has the requirements of changed rows.
  async open(context) {
    const rows = await openChangedRows(context)
    if (!rows?.mirror?.removes) return undefined
    const { mirror } = rows
    const { sides, mapBefore } = context
    return {
      opened(reader) {
        mirror.open(reader)
        return undefined
      },
      begin: ({ source }) => mirror.begin(source),
      // If it fails earlier, the next transfer reads everything again, and finds the rows to remove.
      get holdsCursor() {
        return mirror.holdsCursor
      },
      rest: (tools) =>
        removalsOf(mirror, {
          ...context,
          ...tools,
          async mapperFor(source) {
            const { mapping, mapped } = await mapBefore(source)
            await sides.sample(source, async (some) => (await mapBefore(some)).mapped)
            mirror.begin(source)
            await rows.begin({ source, mapping })
            return () => rows.mark(mapped, { source })
          },
        }),
    }
  },
}
