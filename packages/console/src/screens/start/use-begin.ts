import { uploadedFileConnectorId } from '@penstock/wire'
import { useState, useTransition } from 'react'
import { useNavigate } from 'react-router'
import { readNow, useWrite } from '../../api/queries.ts'
import { notifyDone } from '../../components/notify.ts'
import { isCancelled, type Sending, titleOfFile, useUpload } from '../../components/use-upload.ts'
import { start as say } from '../../strings/start.ts'
import { beginDraft } from '../new-connection/draft.ts'

/** The ways into the wizard: with a connector as its source, with a file that is uploaded first, or with a search. */
export type Beginning = {
  readonly busy: boolean
  readonly sending: Sending | undefined
  readonly failure: unknown
  readonly withSource: (connectorId: string) => void
  readonly withFile: (content: Blob, name: string) => void
  readonly withUpload: (upload: { id: string; name: string }) => void
  readonly withSearch: (sources: string) => void
  /** Moves the sample people into a table of their own, and shows what happened. */
  readonly withSample: (content: Blob) => void
}

/** @param existing the sub-account; one is added if there is none yet */
export function useBegin(existing: string | undefined): Beginning {
  const addAccount = useWrite('addAccount')
  const addConnectors = useWrite('addConnectors')
  const { sending, send } = useUpload()
  const createSample = useWrite('createSample')
  const navigate = useNavigate()
  const [working, setWorking] = useState(false)
  // The next page is drawn in a while: until then this one stays busy, and a click begins no other way.
  const [leaving, leave] = useTransition()
  const busy = working || leaving
  const [failure, setFailure] = useState<unknown>()

  const run = async (work: (accountId: string) => Promise<void>) => {
    if (busy) return
    setWorking(true)
    setFailure(undefined)
    try {
      await work(existing ?? (await addAccount.mutateAsync({ body: { name: say.account } })).reply.id)
    } catch (error) {
      if (!isCancelled(error)) setFailure(error)
    } finally {
      setWorking(false)
    }
  }
  const go = (path: string) => leave(async () => await navigate(path))
  const open = (accountId: string, picks: Record<string, string>) =>
    go(`/accounts/${accountId}/connections/new?${new URLSearchParams(picks)}`)
  const openWith = async (accountId: string, source: string) => {
    await addConnectors.mutateAsync({ accountId, body: { connectorIds: [source] } })
    open(accountId, { source, step: 'destination' })
  }
  const openFile = async (accountId: string, { id, name }: { id: string; name: string }) => {
    beginDraft(accountId, uploadedFileConnectorId, { name: titleOfFile(name), settings: { upload: id } })
    await openWith(accountId, uploadedFileConnectorId)
  }
  return {
    busy,
    sending,
    failure,
    withSource: (connectorId) => void run((accountId) => openWith(accountId, connectorId)),
    withSearch: (sources) => void run(async (accountId) => open(accountId, { sources, step: 'source' })),
    withSample: (content) =>
      void run(async (accountId) => {
        const { reply: before } = await readNow('getSample', { accountId })
        if (before.connectionId === null) {
          const { id: uploadId } = await send(accountId, content, say.sample.file)
          await createSample.mutateAsync({ accountId, body: { uploadId } })
        }
        go(`/accounts/${accountId}/start?show=sample`)
      }),
    withUpload: (file) => void run((accountId) => openFile(accountId, file)),
    withFile: (content, given) =>
      void run(async (accountId) => {
        const uploaded = await send(accountId, content, given)
        notifyDone(say.uploaded(uploaded.name))
        await openFile(accountId, uploaded)
      }),
  }
}
