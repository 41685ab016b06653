import type { ReplayedRow } from '@penstock/engine'
import type { MasterKey } from '../../../secrets/seal.ts'
import { reasonsIn } from '../../reject-reasons.ts'
import { openText, places } from '../../sealed.ts'
import type { replayedRejects } from './queries.ts'

type Row = Awaited<ReturnType<typeof replayedRejects.all>>[number]

/** Why a record is not sent again. */
const whySuperseded = {
  delivered: 'Superseded by a newer change: a later record with the same key was delivered. Nothing was sent.',
  unknown:
    'It cannot be known any more whether a newer record with the same key was delivered. Nothing was sent. Start a transfer that reads the record again.',
}

/** A rejected record as a replay reads it: with its corrections, or with the reason why it stays rejected. */
export function readReplayed(key: MasterKey, transferId: string, row: Row): ReplayedRow {
  const { number, sealed, edited, structural, superseded } = row
  return {
    number,
    raw: openText(key, (edited ? places.edit : places.reject)(transferId, number), sealed),
    error: superseded
      ? whySuperseded[superseded]
      : structural && !edited
        ? reasonsIn(key, transferId, row).reason
        : null,
  }
}
