import { zstdDecompressSync } from 'node:zlib'
import type { EventToPut } from '@penstock/connector'
import type { EventsPut, EventsToPut, PutEventsJob, PutHost } from './protocol.ts'
import { type JobRuntime, openContext } from './runtime.ts'
import { withoutSecrets } from './side-secrets.ts'

/** A supervisor sends far less in one message. */
const bytesMax = 64 << 20
const lineBreak = 10

/**
 * Puts events until there are no more. Throws the `ConnectorError` of the store, or the signal's reason once the signal is
 * aborted.
 */
export async function runPutEvents(
  job: PutEventsJob,
  runtime: JobRuntime,
  { nextEvents }: Partial<PutHost>,
  signal: AbortSignal,
): Promise<null> {
  const connector = await runtime.loadConnector(job.connector.slug)
  const open = connector.putEvents
  if (!open || !nextEvents) throw new Error('This connector has no store of events')
  const { context, redact } = openContext(runtime, connector, undefined, job.connector, signal)
  return withoutSecrets(redact, async () => {
    const store = await open(context)
    try {
      let put: EventsPut | null = null
      for (;;) {
        const events: EventsToPut | null = await nextEvents(put)
        if (events === null) return null
        const refused = await store.put(eventsIn(events))
        put = { refused: refused.map(({ index = 0, reason }) => ({ index, reason: redact(reason) })) }
      }
    } finally {
      await store.close()
    }
  })
}

/** The events of a message. Their bytes are not copied. */
function eventsIn({ count, lines }: EventsToPut): EventToPut[] {
  const bytes = zstdDecompressSync(Buffer.from(lines, 'base64'), { maxOutputLength: bytesMax })
  let at = 0
  const line = (): Buffer => {
    const end = bytes.indexOf(lineBreak, at)
    const found = bytes.subarray(at, end === -1 ? bytes.length : end)
    at += found.length + 1
    return found
  }
  return Array.from({ length: count }, () => {
    const [receivedMs, key, messageId] = JSON.parse(line().toString()) as [number, string | null, string | null]
    return { receivedMs, key: key ?? undefined, messageId: messageId ?? undefined, json: line() }
  })
}
