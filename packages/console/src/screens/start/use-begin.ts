import { limits, uploadedFileConnectorId } from '@penstock/wire'
import { useState, useTransition } from 'react'
import { useNavigate } from 'react-router'
import { readNow, useWrite } from '../../api/queries.ts'
import { notifyDone } from '../../components/notify.ts'
import { start as say } from '../../strings/start.ts'
import { beginDraft } from '../new-connection/draft.ts'

/** A file that is on its way. */
export type Sending = { readonly name: string; readonly sizeBytes: number; readonly cancel: () => void }

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
  const upload = useWrite('createUpload')
  const createSample = useWrite('createSample')
  const navigate = useNavigate()
  const [working, setWorking] = useState(false)
  // The next page is drawn in a while: until then this one stays busy, and a click begins no other way.
  const [leaving, leave] = useTransition()
  const busy = working || leaving
  const [sending, setSending] = useState<Sending>()
  const [failure, setFailure] = useState<unknown>()

  const run = async (work: (accountId: string) => Promise<void>) => {
    if (busy) return
    setWorking(true)
    setFailure(undefined)
    try {
      await work(existing ?? (await addAccount.mutateAsync({ body: { name: say.account } })).reply.id)
    } catch (error) {
      if (!(error instanceof DOMException && error.name === 'AbortError')) setFailure(error)
    } finally {
      setSending(undefined)
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
    beginDraft(accountId, uploadedFileConnectorId, { name: titleOf(name), settings: { upload: id } })
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
          const { reply } = await upload.mutateAsync({ accountId, query: { name: say.sample.file }, body: content })
          await createSample.mutateAsync({ accountId, body: { uploadId: reply.id } })
        }
        go(`/accounts/${accountId}/start?show=sample`)
      }),
    withUpload: (file) => void run((accountId) => openFile(accountId, file)),
    withFile: (content, given) =>
      void run(async (accountId) => {
        const name = nameOf(given)
        const ending = new AbortController()
        setSending({ name, sizeBytes: content.size, cancel: () => ending.abort() })
        const { signal } = ending
        const { reply } = await upload.mutateAsync({ accountId, query: { name }, body: content, signal })
        notifyDone(say.uploaded(reply.name))
        await openFile(accountId, reply)
      }),
  }
}

/** The name of a file as the service takes it: what it refuses becomes an underscore, and the end of a long name stays. */
const nameOf = (name: string): string =>
  name
    .replaceAll(/[/\\\p{Cc}\p{Cs}\u2028-\u202e\u2066-\u2069]/gu, '_')
    .slice(-limits.uploadNameLengthMax)
    .trim() || 'upload'

/** The name that a connection gets: that of the file, without its endings. */
const titleOf = (name: string): string =>
  name.replace(/(?:\.(?:csv|tsv|txt|ndjson|jsonl|json|xlsx|xlsm|parquet|avro|duckdb|gz|zst|bz2))+$/i, '')
