import { openChangedRows } from '../changed-rows/opened.ts'
import type { StageContext, StageKind } from '../stage.ts'
import { RepeatedRows } from './repeated-rows.ts'
import { SentRows } from './sent-rows.ts'

/** Settles batches of an earlier attempt by the values of their rows, and skips rows of them that are read again. */
export const repeatedRows: StageKind = {
  name: 'repeated-rows',
  passesRaw: true,
  // A handover repeats whole files.
  async open(context) {
    const changed = await openChangedRows(context)
    if (changed) return changed.leavesOut ? new RepeatedRows(context, changed) : undefined
    const sent = openSentRows(context)
    return sent && new RepeatedRows(context, sent)
  },
}

/** Finds rows again by their values, if all rows are sent and this is necessary; otherwise `undefined`. */
function openSentRows({ sides, job }: StageContext): SentRows | undefined {
  const { recognisesKeys } = sides.repeating
  if (!sides.adds || !(recognisesKeys || sides.notesBatches)) return undefined
  return new SentRows(job.connectionId, recognisesKeys)
}
