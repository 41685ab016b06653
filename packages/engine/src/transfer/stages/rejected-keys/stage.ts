import type { StageKind } from '../stage.ts'
import { RejectedKeys } from './rejected-keys.ts'

/** Finds rejected records that must not be sent again, because a later record with their key was delivered. */
export const rejectedKeys: StageKind = {
  name: 'rejected-keys',
  passesRaw: true,
  // Rejected rows of a handover have no keys, and can be sent again in any order.
  async open({ state, host, sides }) {
    const keys = state.testRows === null ? await RejectedKeys.open(host, sides.keyNames) : undefined
    if (!keys) return undefined
    return {
      added({ batch, rejectedFrom, rejects, sent }) {
        if (!rejectedFrom || batch?.left) return undefined
        keys.useColumns(sides.columns)
        keys.add(rejectedFrom, rejects, sent > 0)
        return undefined
      },
      confirming: (confirmation) => keys.complete(confirmation),
    }
  },
}
