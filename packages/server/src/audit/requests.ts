import { createHash } from 'node:crypto'
import { operations, type TSchema } from '@penstock/wire'
import { mayActIn } from '../access.ts'
import type { Actor, AuditedRequest, RequestAudit } from '../call.ts'
import type { Database } from '../db/database.ts'
import type { Logger } from '../log.ts'
import type { AuditLinker } from './link.ts'
import { type AuditEntry, changesBetween, record, recordNow } from './record.ts'
import { createRepeats } from './repeats.ts'
import { createViews } from './views.ts'

/** Records requests to the API in the audit log: every change, every read of records, every refusal. */

/** Refusals that are alike within these become one event. */
const refusalWindowMs = 5_000

export function createRequestAudit(
  database: Database,
  linker: Pick<AuditLinker, 'wake'>,
  log: Pick<Logger, 'warn'>,
): RequestAudit & { flush(): Promise<void>; close(): Promise<void> } {
  const refusals = createRepeats<AuditEntry & { times: number }>(
    refusalWindowMs,
    (refused) =>
      recordNow(
        database,
        refused.map(({ times, ...entry }) => ({ ...entry, details: { ...entry.details, times } })),
      ),
    log,
  )
  const views = createViews()
  return {
    changed: (tx, request, { reply, already }, { before, after, details, unchanged } = {}) => {
      if (already || unchanged) return
      const { reply: schema } = operations[request.operationId]
      const [was, is] = [before ?? null, after === undefined ? reply : after].map((value) => keptOf(schema, value))
      const values = changesBetween(was ?? null, is ?? null)
      if (before && !values && !details) return
      record(tx, { ...entryOf(request, reply), ...values, details: detailsOf(request, details) })
      tx.afterCommit(linker.wake)
    },

    revealed: async (request, { reply, view }) => {
      const shown = 'items' in reply ? { values: valuesIn(reply) } : { records: shownBy(reply).length }
      const details = request.stream === undefined ? shown : { streamed: request.stream }
      const { actor, operationId, accountId, id } = request
      const entry = {
        ...entryOf(request),
        details: detailsOf(request, view === undefined ? details : { ...details, view: view.id }),
      }
      const of = view && digestOf([actor.organizationId, actor.kind, actor.id, operationId, accountId, id, view])
      await views.once(of, () => recordNow(database, [entry]))
    },

    refused: (request, fieldErrors) => {
      const { actor, accountId } = request
      const reason = fieldErrors.map(({ field, message }) => `${field}: ${message}`).join('; ')
      const entry = {
        ...entryOf({ ...request, accountId: accountId && mayActIn(actor, accountId) ? accountId : undefined }),
        outcome: 'refused' as const,
        details: detailsOf(request, { reason }),
        times: 1,
      }
      refusals.add([actor.organizationId, actor.kind, actor.id, request.operationId, reason].join('\n'), entry)
    },
    flush: refusals.flush,
    close: refusals.close,
  }
}

const digestOf = (of: unknown): string => createHash('sha256').update(JSON.stringify(of)).digest('base64')

/** The records that a reply shows. */
function shownBy(reply: object): readonly unknown[] {
  if (Array.isArray(reply)) return reply
  const { rows, records } = reply as { rows?: unknown; records?: unknown }
  return [rows, records].find(Array.isArray) ?? []
}

/** The number of values that a discovery of columns shows. */
const valuesIn = ({ items }: { items: unknown }): number =>
  Array.isArray(items) ? items.flatMap(({ samples = [] }: { samples?: readonly string[] }) => samples).length : 0

/** The owner of a session is known, because its client created it. */
const detailsOf = ({ actor, transferId }: AuditedRequest, details: object | undefined): object | null => {
  const all = {
    ...details,
    ...(transferId === undefined ? {} : { transferId }),
    ...(actor.kind === 'session' ? { clientId: actor.clientId } : {}),
  }
  return Object.keys(all).length > 0 ? all : null
}

const textOf = (value: unknown): string | null => (typeof value === 'string' ? value : null)

/** Audit entry of a request: action, target and actor. The reply names a resource that was created. */
function entryOf(request: AuditedRequest, reply: object | null = null): AuditEntry {
  const { operationId, actor, id, accountId } = request
  const { accountId: accountOfReply, id: idOfReply, sessionId } = (reply ?? {}) as Record<string, unknown>
  const targetId = id || textOf(idOfReply) || textOf(sessionId)
  const isAccount = operations[operationId].path.startsWith('/accounts')
  return {
    organizationId: actor.organizationId,
    actor: auditActorOf(actor),
    action: operationId,
    accountId: accountId ?? (isAccount ? targetId : textOf(accountOfReply)),
    targetId,
    address: request.address,
    requestId: request.requestId,
  }
}

/** The actor of a request, as the audit log names it. */
export const auditActorOf = ({ kind, id, name }: Actor): AuditEntry['actor'] => ({ kind, id, name })

/** Keys that say nothing that another key does not say. */
const leftOut = new Set(['connectorLogo'])

/** Part of a reply that the log stores: all keys that the contract does not mark as secret. Null for a list. */
function keptOf(schema: TSchema, value: object | null): object | null {
  return Array.isArray(value) ? null : (withoutSecrets(schema, value) as object | null)
}

type Schema = {
  readonly format?: string
  readonly anyOf?: readonly Schema[]
  readonly properties?: Readonly<Record<string, Schema>>
}

/** Whether the contract marks it as secret. */
const isSecret = ({ format, anyOf = [] }: Schema): boolean => format === 'password' || anyOf.some(isSecret)

function withoutSecrets(schema: TSchema, value: unknown): unknown {
  const { properties } = schema as Schema
  if (!properties || typeof value !== 'object' || value === null) return value
  return Object.fromEntries(
    Object.entries(value)
      .filter(([key]) => !isSecret(properties[key] ?? {}) && !leftOut.has(key))
      .map(([key, inner]) => [key, withoutSecrets((properties[key] ?? {}) as TSchema, inner)]),
  )
}
