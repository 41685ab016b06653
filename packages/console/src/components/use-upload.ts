import { limits, type Upload } from '@penstock/wire'
import { useState } from 'react'
import { useWrite } from '../api/queries.ts'

/** A file that is on its way. */
export type Sending = { readonly name: string; readonly sizeBytes: number; readonly cancel: () => void }

/** Uploads one file at a time. `send` rejects with an `AbortError` if the user cancels. */
export function useUpload(): {
  sending: Sending | undefined
  send: (accountId: string, content: Blob, name: string) => Promise<Upload>
} {
  const upload = useWrite('createUpload')
  const [sending, setSending] = useState<Sending>()
  const send = async (accountId: string, content: Blob, given: string) => {
    const name = nameOf(given)
    const ending = new AbortController()
    setSending({ name, sizeBytes: content.size, cancel: () => ending.abort() })
    try {
      const { signal } = ending
      return (await upload.mutateAsync({ accountId, query: { name }, body: content, signal })).reply
    } finally {
      setSending(undefined)
    }
  }
  return { sending, send }
}

export const isCancelled = (error: unknown): boolean => error instanceof DOMException && error.name === 'AbortError'

/** The name of a file as the service takes it: what it refuses becomes an underscore, and the end of a long name stays. */
const nameOf = (name: string): string =>
  name
    .replaceAll(/[/\\\p{Cc}\p{Cs}\u2028-\u202e\u2066-\u2069]/gu, '_')
    .slice(-limits.uploadNameLengthMax)
    .trim() || 'upload'

/** The name that a connection gets: that of the file, without its endings. */
export const titleOfFile = (name: string): string =>
  name.replace(/(?:\.(?:csv|tsv|txt|ndjson|jsonl|json|xlsx|xlsm|parquet|avro|duckdb|gz|zst|bz2))+$/i, '')
