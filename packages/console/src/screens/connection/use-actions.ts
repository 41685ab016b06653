import type { ConnectionDetails, StatusAction } from '@penstock/wire'
import { useState } from 'react'
import { useWrite } from '../../api/queries.ts'
import { notifyDone } from '../../components/notify.tsx'
import { components } from '../../strings/components.ts'
import { connection as say } from '../../strings/connection.ts'
import type { Action } from './reasons.ts'

type Doing = {
  busy: Action | undefined
  /** Why the last action was refused. */
  refusal: unknown
  dismiss: () => void
  run: (confirm?: boolean) => Promise<void>
  move: (action: StatusAction) => Promise<void>
  restore: () => Promise<void>
  /** Rejects if it is refused: a dialogue says so. */
  remove: () => Promise<void>
}

/** Does what is asked of a connection, and says what came of it. */
export function useActions({ accountId, id, name, status }: ConnectionDetails): Doing {
  const [busy, setBusy] = useState<Action>()
  const [refusal, setRefusal] = useState<unknown>()
  const setStatus = useWrite('updateConnectionStatus')
  const start = useWrite('startTransfer')
  const remove = useWrite('deleteConnection')
  const restore = useWrite('restoreConnection')
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
        else notifyDone(say.enabled(name, components.status[reply.status]))
      }),
    restore: () =>
      attempt('restore', async () => {
        await restore.mutateAsync(of)
        notifyDone(say.restored(name))
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
