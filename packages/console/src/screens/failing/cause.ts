import type { AttentionEntry, Connection, Transfer } from '@penstock/wire'
import { blamesConfiguration, lastResultOf, refusesCredentials } from '../../components/standing.ts'
import { blamedSide } from '../transfer/blame.ts'

/** Why connections fail. Connections with the same cause are cured together. This is the only place that decides what is the same. */

/** A failing connection, from the list of what needs attention or from its own page. */
export type FailingConnection = Pick<AttentionEntry, 'id' | 'accountId' | 'name' | 'status' | 'src' | 'dest'> & {
  readonly accountName?: string
  /** Null or undefined: the first one of its connector. */
  readonly srcConfigurationId?: string | null | undefined
  readonly destConfigurationId?: string | null | undefined
  readonly lastTransfer: Pick<Transfer, 'id' | 'status' | 'finishedTime' | 'error'> | null
}

/**
 * The cure. credentials, configuration: other values in one configuration. waiting: time, as Penstock tries again.
 * columns, confirmation: a decision. connection: something of this connection only.
 */
export type CauseKind = 'credentials' | 'configuration' | 'waiting' | 'columns' | 'confirmation' | 'connection'
export type Cause = {
  /** The same for connections with the same cause. */
  readonly key: string
  readonly kind: CauseKind
  readonly code: string | undefined
  readonly accountId: string
  /** The configuration that is to blame, if one is. */
  readonly at:
    | { readonly connectorId: string; readonly connectorName: string; readonly configurationId: string | undefined }
    | undefined
}

export function causeOf(connection: FailingConnection): Cause {
  const { accountId, lastTransfer: transfer } = connection
  const error = transfer?.error ?? undefined
  const side = blamedSide(connection, error)
  const at = side && {
    connectorId: side.connectorId,
    connectorName: side.connectorName,
    configurationId:
      (side === connection.src ? connection.srcConfigurationId : connection.destConfigurationId) ?? undefined,
  }
  const kind = kindOf(connection, at !== undefined)
  const where = kind === 'columns' ? connection.src.connectorId : at?.connectorId
  // Errors of one table or of rows have the same cause only if their messages are the same.
  const words = kind === 'columns' || kind === 'connection' ? (error?.message ?? connection.id) : ''
  // A transfer that retries cannot be started again; an offline connection can.
  const own = kind === 'confirmation' ? connection.id : kind === 'waiting' ? connection.status : ''
  const key = [kind, error?.code ?? '', accountId, where ?? '', at?.configurationId ?? '', words, own].join(' ')
  return { key, kind, code: error?.code, accountId, at }
}

function kindOf({ status, src, dest, lastTransfer: transfer }: FailingConnection, isKnown: boolean): CauseKind {
  const error = transfer?.error
  if (!src.configured || !dest.configured) return 'configuration'
  if (status === 'offline' || lastResultOf(transfer) === 'retrying') return 'waiting'
  if (error?.code === 'columns_changed') return 'columns'
  if (error?.code === 'confirmation_needed') return 'confirmation'
  if (isKnown && refusesCredentials(transfer)) return 'credentials'
  return isKnown && blamesConfiguration(error) ? 'configuration' : 'connection'
}

/** Connections with one cause, in their order in the list. */
export type CauseGroup<C extends FailingConnection = FailingConnection> = {
  readonly cause: Cause
  readonly connections: readonly C[]
}

const order: readonly CauseKind[] = ['credentials', 'configuration', 'columns', 'confirmation', 'connection', 'waiting']

/** Groups by cause: what needs a person before what heals by itself, larger groups first. */
export function causeGroupsOf<C extends FailingConnection>(connections: readonly C[]): readonly CauseGroup<C>[] {
  const groups = new Map<string, { cause: Cause; connections: C[] }>()
  for (const connection of connections) {
    const cause = causeOf(connection)
    const group = groups.get(cause.key)
    if (group) group.connections.push(connection)
    else groups.set(cause.key, { cause, connections: [connection] })
  }
  const rank = ({ cause: { kind } }: CauseGroup<C>) => (kind === 'waiting' ? 1 : 0)
  return [...groups.values()].sort(
    (one, other) =>
      rank(one) - rank(other) ||
      other.connections.length - one.connections.length ||
      order.indexOf(one.cause.kind) - order.indexOf(other.cause.kind),
  )
}

/** When the first of the connections failed, in seconds since 1970; undefined: not known. */
export function failedSince(connections: readonly FailingConnection[]): number | undefined {
  const times = connections.flatMap(({ lastTransfer }) => lastTransfer?.finishedTime ?? [])
  return times.length === 0 ? undefined : Math.min(...times)
}

/**
 * A connection as its own page knows it.
 * @param other the configurations of its sides, unless they are the first ones of their connectors
 */
export const failingOf = (
  { id, accountId, name, status, src, dest }: Connection,
  { id: transferId, status: ended, finishedTime, error }: Transfer,
  other: { readonly src: string | undefined; readonly dest: string | undefined },
): FailingConnection => ({
  id,
  accountId,
  name,
  status,
  src,
  dest,
  srcConfigurationId: other.src,
  destConfigurationId: other.dest,
  lastTransfer: { id: transferId, status: ended, finishedTime, error },
})
