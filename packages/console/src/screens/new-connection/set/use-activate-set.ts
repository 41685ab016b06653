import { type ConnectionDetails, mayTransfer } from '@penstock/wire'
import { useState } from 'react'
import { readOnce, useWrite } from '../../../api/queries.ts'
import { useWizard } from '../wizard.ts'

/** Where the activation of a set stopped. */
export type Stopped = {
  readonly id: string
  /** Undefined if it could not be read. */
  readonly connection: ConnectionDetails | undefined
  readonly error: unknown
  /** Whether the connection is active, and only its first transfer did not start. */
  readonly isActive: boolean
  /** How many connections before it are active. */
  readonly done: number
}

const nobody: ReadonlySet<string> = new Set()

/**
 * Activates the connections of a set in their order, and starts the first transfer of each. The first refusal stops it: what
 * is active stays active, and a person tries again or goes on without that connection.
 */
export function useActivateSet(ids: readonly string[]) {
  const { accountId, setAt } = useWizard()
  const setStatus = useWrite('updateConnectionStatus')
  const start = useWrite('startTransfer')
  const [busy, setBusy] = useState(false)
  const [stopped, setStopped] = useState<Stopped>()
  const [done, setDone] = useState<ReadonlySet<string>>(nobody)
  const [skipped, setSkipped] = useState<ReadonlySet<string>>(nobody)

  const work = async (left: ReadonlySet<string>) => {
    setBusy(true)
    setStopped(undefined)
    const ended = new Set(done)
    for (const id of ids) {
      if (ended.has(id) || left.has(id)) continue
      let connection: ConnectionDetails | undefined
      let isActive = false
      try {
        const { reply, etag } = await readOnce('getConnection', { accountId, id }, { fresh: true })
        connection = reply
        isActive = mayTransfer(reply.status)
        if (!isActive) {
          await setStatus.mutateAsync({ accountId, id, body: { action: 'activate' }, ifMatch: etag })
          isActive = true
        }
        await start.mutateAsync({ accountId, id, body: {} })
      } catch (error) {
        setStopped({ id, connection, error, isActive, done: ended.size })
        break
      }
      ended.add(id)
    }
    setDone(ended)
    setBusy(false)
    // The set is complete: it is no longer offered to continue.
    if (ids.every((id) => ended.has(id) || left.has(id))) setAt(undefined)
  }
  return {
    busy,
    stopped,
    skipped,
    isDone: !stopped && !busy && ids.length > 0 && ids.every((id) => done.has(id) || skipped.has(id)),
    run: () => void work(skipped),
    /** Goes on without the connection at which it stopped. */
    skip: () => {
      if (!stopped) return
      const left = new Set([...skipped, stopped.id])
      setSkipped(left)
      void work(left)
    },
  }
}
