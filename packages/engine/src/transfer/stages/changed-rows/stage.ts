import type { TransferState } from '../../../protocol.ts'
import { sendsChangedRows } from '../../../settings.ts'
import type { StageKind } from '../stage.ts'
import { openChangedRows } from './opened.ts'

const whyCompared = ({ digests, destination }: TransferState): string | undefined => {
  if (!digests) return undefined
  return sendsChangedRows(destination.settings)
    ? 'only changed rows are sent'
    : 'the state keeps the keys of a mirror, which a full refresh ends'
}

/** Skips rows that the destination has already, and keeps digests of the rows that it has. */
export const changedRows: StageKind = { needsValues: whyCompared, needsAllRows: whyCompared, open: openChangedRows }
