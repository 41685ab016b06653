import { type AttentionEntry, type AttentionReason, attentionReasons } from '@penstock/wire'
import { viewSide } from '../connections/view.ts'
import type { Catalogue } from '../connectors/catalogue.ts'
import { unixSeconds } from '../time.ts'
import { viewErrorOf } from '../transfers/view.ts'
import type { AttentionRow } from './queries.ts'

export function viewAttention(row: AttentionRow, catalogue: Catalogue): AttentionEntry {
  return {
    id: row.id,
    accountId: row.accountId,
    accountName: row.accountName,
    name: row.name,
    status: row.status,
    src: viewSide(row.srcConnectorId, row.srcConfigured, catalogue),
    dest: viewSide(row.destConnectorId, row.destConfigured, catalogue),
    srcConfigurationId: row.srcConfigurationId,
    destConfigurationId: row.destConfigurationId,
    reasons: row.reasons.map((place) => attentionReasons[place] as AttentionReason),
    notConfigured: [
      ...(row.srcConfigured ? [] : (['source'] as const)),
      ...(row.destConfigured ? [] : (['destination'] as const)),
    ],
    lastTransfer: viewLastTransfer(row),
  }
}

function viewLastTransfer(row: AttentionRow): AttentionEntry['lastTransfer'] {
  if (row.transferId === null) return null
  return {
    id: row.transferId,
    status: row.transferStatus,
    finishedTime: row.finishedTime && unixSeconds(row.finishedTime),
    records: { read: row.read, sent: row.sent, accepted: row.accepted, rejected: row.rejected },
    error: viewErrorOf(row),
  }
}
