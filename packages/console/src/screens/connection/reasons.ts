import { type ConnectionDetails, type ConnectionStatus, errors, lifecycle, mayTransfer } from '@penstock/wire'
import { backfill } from '../../strings/backfill.ts'
import { connection as say } from '../../strings/connection.ts'
import { standing as words } from '../../strings/standing.ts'

export type Action =
  | 'run'
  | 'test'
  | 'backfill'
  | 'activate'
  | 'enable'
  | 'disable'
  | 'delete'
  | 'restore'
  | 'edit'
  | 'duplicate'
/** Why each action is impossible now; undefined if it is possible. */
export type Reasons = Readonly<Record<Action, string | undefined>>

/** Further inputs of the decision, beside the connection; undefined while they are not known, which forbids nothing. */
export type Surroundings = {
  readonly accountEnabled: boolean | undefined
  /** The names of sides that no data moves through. */
  readonly entriesOnly: readonly string[]
  /** The name of the source, if it has no ranges. */
  readonly noRanges: string | undefined
  readonly active: boolean
  /** Whether the newest transfer failed because its credentials were refused. */
  readonly refused?: boolean
}

/** Reads from the contract's own tables what can be done with a connection, and else why not. */
export function reasonsOf(connection: Pick<ConnectionDetails, 'status' | 'editable'>, around: Surroundings): Reasons {
  const move = (trigger: 'activate' | 'enable' | 'disable' | 'delete' | 'restore') =>
    connection.editable ? refusalOf(trigger, connection.status) : errors.not_editable.message
  const run = refusalToTransfer(connection.status, around)
  return {
    run,
    test: run,
    backfill: run ?? (around.noRanges === undefined ? undefined : backfill.none(around.noRanges)),
    activate: move('activate'),
    enable: move('enable'),
    disable: move('disable'),
    delete: move('delete'),
    restore: move('restore'),
    duplicate: connection.status === 'deleted' ? errors.connection_deleted.message : undefined,
    edit: connection.editable
      ? connection.status === 'deleted'
        ? errors.connection_deleted.message
        : undefined
      : errors.not_editable.message,
  }
}

function refusalOf(
  trigger: 'activate' | 'enable' | 'disable' | 'delete' | 'restore',
  status: ConnectionStatus,
): string | undefined {
  const transition = lifecycle[status][trigger]
  if ('refused' in transition) return errors[transition.refused].message
  if (transition.to !== status) return undefined
  const shown = words.connection[status]
  if (trigger === 'enable') return say.onlyDisabled(shown)
  return say.isAlready(shown)
}

function refusalToTransfer(
  status: ConnectionStatus,
  { accountEnabled, entriesOnly, active, refused = false }: Surroundings,
): string | undefined {
  if (status === 'deleted') return errors.connection_deleted.message
  if (entriesOnly.length > 0) return entriesOnly.map(say.entryOnly).join(' ')
  if (status === 'broken' && refused) return say.credentialsFirst
  if (!mayTransfer(status)) return errors.connection_not_active.message
  if (accountEnabled === false) return errors.account_disabled.message
  return active ? say.active : undefined
}
