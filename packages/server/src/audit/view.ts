import type { AuditEvent } from '@penstock/wire'
import { unixSeconds } from '../time.ts'
import type { AuditRow } from './queries.ts'

type Values = Record<string, unknown> | null

/** An event of the audit log as the API shows it. @param targetName null: not known */
export const viewEvent = (row: AuditRow, targetName: string | null): AuditEvent => ({
  number: row.number,
  time: unixSeconds(row.time),
  actor: { kind: row.actorKind, id: row.actorId, name: row.actorName },
  address: row.address,
  requestId: row.requestId,
  action: row.action,
  accountId: row.accountId,
  targetId: row.targetId,
  targetName,
  outcome: row.outcome,
  before: row.before as Values,
  after: row.after as Values,
  details: row.details as Values,
  previousHash: row.previousHash,
  hash: row.hash,
})
