import type { TransferState } from '../../../protocol.ts'
import { sendsChangedRows } from '../../../settings.ts'
import type { StageKind, StageNeeds } from '../stage.ts'
import { openChangedRows } from './opened.ts'

const needs = ({ digests, destination }: TransferState): StageNeeds | undefined => {
  if (!digests) return undefined
  const why = sendsChangedRows(destination.settings)
    ? 'only changed rows are sent'
    : 'the state keeps the keys of a mirror, which a full refresh ends'
  return { values: why, allRows: why }
}

/** Skips rows that the destination has already, and keeps digests of the rows that it has. */
export const changedRows: StageKind = {
  name: 'changed-rows',
  needs,
  open: openChangedRows,
}
