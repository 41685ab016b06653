import { type ReactNode, useState } from 'react'
import { useForbidden } from '../../api/me.ts'
import { useWrite } from '../../api/queries.ts'
import { useDialog } from '../../components/form-dialog.tsx'
import { notifyDone } from '../../components/notify.ts'
import { failing as say } from '../../strings/failing.ts'
import { callEach } from '../connections/call-each.ts'
import { Refused } from '../connections/selection.tsx'
import type { FailingConnection } from './cause.ts'

/** Activates connections that do not run, and starts a transfer of each. Refusals are listed in `dialog`. */
export function useRunAll(): {
  run: (connections: readonly FailingConnection[]) => Promise<void>
  isRunning: boolean
  /** Why the person cannot do it. */
  forbidden: string | undefined
  dialog: ReactNode
} {
  const move = useWrite('updateConnectionStatus')
  const start = useWrite('startTransfer')
  const [isRunning, setRunning] = useState(false)
  const [dialog, open] = useDialog()
  const mayMove = useForbidden('updateConnectionStatus')
  const mayStart = useForbidden('startTransfer')
  const run = async (connections: readonly FailingConnection[]) => {
    setRunning(true)
    const refusals = await callEach(connections, async ({ accountId, id, status }) => {
      if (status !== 'active') await move.mutateAsync({ accountId, id, body: { action: 'activate' } })
      await start.mutateAsync({ accountId, id, body: {} })
    })
    setRunning(false)
    const done = connections.length - refusals.length
    if (done > 0) notifyDone(say.ran(done))
    if (refusals.length > 0) {
      open((close) => <Refused refusals={refusals} of={connections.length} onClose={close} />)
    }
  }
  return { run, isRunning, forbidden: mayMove ?? mayStart, dialog }
}
