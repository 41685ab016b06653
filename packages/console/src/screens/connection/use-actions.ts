import { type ConnectionDetails, limits, type StatusAction } from '@penstock/wire'
import { useState } from 'react'
import { useNavigate } from 'react-router'
import { useRead, useWrite } from '../../api/queries.ts'
import { notifyDone } from '../../components/notify.ts'
import { pathOf } from '../../shell/account.ts'
import { connection as say } from '../../strings/connection.ts'
import { standing as words } from '../../strings/standing.ts'
import { ownSettings } from './own-settings.ts'
import type { Action } from './reasons.ts'

type Doing = {
  busy: Action | undefined
  /** Why the last action was refused. */
  refusal: unknown
  dismiss: () => void
  run: (confirm?: boolean) => Promise<void>
  move: (action: StatusAction) => Promise<void>
  restore: () => Promise<void>
  /** Creates a connection with the same settings, and goes to it. */
  duplicate: () => Promise<void>
  /** Rejects if it is refused: a dialogue says so. */
  remove: () => Promise<void>
}

/** Does what is asked of a connection, and says what came of it. */
export function useActions(connection: ConnectionDetails): Doing {
  const { accountId, id, name, status } = connection
  const [busy, setBusy] = useState<Action>()
  const [refusal, setRefusal] = useState<unknown>()
  const setStatus = useWrite('updateConnectionStatus')
  const start = useWrite('startTransfer')
  const remove = useWrite('deleteConnection')
  const restore = useWrite('restoreConnection')
  const create = useWrite('createConnection')
  const navigate = useNavigate()
  const source = useRead('getConnectorDefinition', { id: connection.src.connectorId })
  const destination = useRead('getConnectorDefinition', { id: connection.dest.connectorId })
  const of = { accountId, id }

  const attempt = async (action: Action, work: () => Promise<void>) => {
    setBusy(action)
    setRefusal(undefined)
    try {
      await work()
    } catch (error) {
      setRefusal(error)
    } finally {
      setBusy(undefined)
    }
  }
  return {
    busy,
    refusal,
    dismiss: () => setRefusal(undefined),
    run: (confirm = false) =>
      attempt('run', async () => {
        const { already } = await start.mutateAsync({ ...of, body: confirm ? { confirm } : {} })
        notifyDone(already ? say.already : say.started(name))
      }),
    move: (action) =>
      attempt(action, async () => {
        const { reply } = await setStatus.mutateAsync({ ...of, body: { action } })
        if (action === 'activate') notifyDone(say.activated(name))
        else if (action === 'disable') notifyDone(say.disabled(name))
        else notifyDone(say.enabled(name, words.connection[reply.status]))
      }),
    restore: () =>
      attempt('restore', async () => {
        await restore.mutateAsync(of)
        notifyDone(say.restored(name))
      }),
    duplicate: () =>
      attempt('duplicate', async () => {
        const { reply } = await create.mutateAsync({
          accountId,
          body: {
            name: say.copyOf(name).slice(0, limits.nameLengthMax),
            srcConnectorId: connection.src.connectorId,
            destConnectorId: connection.dest.connectorId,
            srcConnectionConfig: ownSettings(connection.srcConnectionConfig, source.data?.reply.source),
            destConnectionConfig: ownSettings(connection.destConnectionConfig, destination.data?.reply.destination),
          },
        })
        notifyDone(say.duplicated(reply.name))
        void navigate(pathOf(accountId, `connections/${reply.id}`))
      }),
    remove: async () => {
      setRefusal(undefined)
      await remove.mutateAsync(of)
      notifyDone(say.deleted(name), async () => {
        await restore.mutateAsync(of)
        // A restored connection is disabled. If it was not disabled before, it is enabled again.
        if (status !== 'disabled') await setStatus.mutateAsync({ ...of, body: { action: 'enable' } })
      })
    },
  }
}
