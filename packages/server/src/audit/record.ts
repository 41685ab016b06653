import { userInfo } from 'node:os'
import type { AuditActor, AuditOutcome } from '@penstock/wire'
import type { Db, Transaction } from '../db/database.ts'
import { type EventParameters, queueEvent, queueEvents } from './queries.ts'

/**
 * Writing the audit log. An event is queued by the last statement of the transaction that it belongs to: it is there where
 * the change is and only there. It is linked into the chain of its organization shortly after.
 */

export type AuditEntry = {
  readonly organizationId: string
  readonly actor: AuditActor
  /** An operation of the API, a command, or what the service did. */
  readonly action: string
  /** `done` unless given. */
  readonly outcome?: AuditOutcome
  readonly accountId?: string | null
  readonly targetId?: string | null
  readonly address?: string | null
  readonly requestId?: string | null
  /** Never a secret, in these three. */
  readonly before?: object | null
  readonly after?: object | null
  readonly details?: object | null
}

/** Name of the log of events that concern the whole deployment, and no single organization. */
const deploymentLog = 'deployment'

/** The actor of what the service does without a request. */
export const serviceActor: AuditActor = { kind: 'service', id: null, name: null }

/** The actor of a schedule. */
export const scheduleActor = (connectionId: string): AuditActor => ({ kind: 'schedule', id: connectionId, name: null })

/** The operator at the command line, by the name of the user of the operating system, if it has one. */
export function operatorActor(): AuditActor {
  try {
    return { kind: 'operator', id: null, name: userInfo().username }
  } catch {
    return { kind: 'operator', id: null, name: null }
  }
}

const entriesOf = new WeakMap<Transaction, AuditEntry[]>()

/** Records what a transaction does. The events are written when it commits. */
export function record(tx: Transaction, ...entries: readonly AuditEntry[]): void {
  const earlier = entriesOf.get(tx)
  if (earlier) return void earlier.push(...entries)
  if (entries.length === 0) return
  const all = [...entries]
  entriesOf.set(tx, all)
  tx.lastly((db) => recordNow(db, all))
}

/** Records events that change nothing, such as refusals, immediately. */
export async function recordNow(db: Db, entries: readonly AuditEntry[]): Promise<void> {
  const rows = entries.map(parametersOf)
  const [only, ...more] = rows
  if (only && more.length === 0) await queueEvent.run(db, only)
  else if (only) await queueEvents.run(db, { events: JSON.stringify(rows) })
}

/** Records a command of the operator that concerns the whole deployment, with the transaction of what it does. */
export function recordCommand(tx: Transaction, action: string, details: object): void {
  record(tx, { organizationId: deploymentLog, actor: operatorActor(), action, details })
}

const parametersOf = (entry: AuditEntry): EventParameters => {
  const json = (value: object | null | undefined) => (value ? JSON.stringify(value) : null)
  return {
    organizationId: entry.organizationId,
    actorKind: entry.actor.kind,
    actorId: entry.actor.id,
    actorName: entry.actor.name,
    address: entry.address ?? null,
    requestId: entry.requestId ?? null,
    action: entry.action,
    accountId: entry.accountId ?? null,
    targetId: entry.targetId ?? null,
    outcome: entry.outcome ?? 'done',
    before: json(entry.before),
    after: json(entry.after),
    details: json(entry.details),
  }
}

/**
 * Differences between two values: of objects, the keys that differ, at every depth. Undefined if there are no differences. If
 * one side is null, it stays null, and the other side is returned whole.
 */
export function changesBetween(
  before: object | null,
  after: object | null,
): { before: object | null; after: object | null } | undefined {
  if (before === null || after === null) return before === after ? undefined : { before, after }
  const was: Record<string, unknown> = {}
  const is: Record<string, unknown> = {}
  for (const key of new Set([...Object.keys(before), ...Object.keys(after)])) {
    const [one, other] = [before, after].map((side) => (side as Record<string, unknown>)[key])
    if (isObject(one) && isObject(other)) {
      const inside = changesBetween(one, other)
      if (inside) [was[key], is[key]] = [inside.before, inside.after]
    } else if (JSON.stringify(one) !== JSON.stringify(other)) {
      if (one !== undefined) was[key] = one
      if (other !== undefined) is[key] = other
    }
  }
  return Object.keys(was).length + Object.keys(is).length === 0 ? undefined : { before: was, after: is }
}

const isObject = (value: unknown): value is object =>
  typeof value === 'object' && value !== null && !Array.isArray(value)
