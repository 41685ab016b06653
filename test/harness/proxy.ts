import { once } from 'node:events'
import { connect, createServer, type Socket } from 'node:net'

/**
 * How the way to the database is:
 * open    everything passes
 * closed  nothing listens, and open connections are cut off
 * reset   new connections are cut off at once, and open ones too
 * silent  open and new connections receive nothing any more, not even when the way is open again
 * held    as silent, until the way is open again
 */
export type Way = 'open' | 'closed' | 'reset' | 'silent' | 'held'

/** A way to a PostgreSQL that a test can obstruct. */
export type ObstructedWay = {
  /** The connection string of the same database by this way. */
  readonly url: string
  /** Sets the condition of the network path, for all connections or only for an application name. */
  set(way: Way, applicationName?: string): Promise<void>
  /** How many connections there are under an application name. */
  passing(applicationName: string): number
  close(): Promise<void>
}

type Passage = { applicationName: string; client: Socket; server: Socket | undefined; startup: Buffer; isLost: boolean }

export async function startProxy(databaseUrl: string): Promise<ObstructedWay> {
  const target = new URL(databaseUrl)
  const passages = new Set<Passage>()
  let way: Way = 'open'
  let only: string | undefined
  const concerns = ({ applicationName }: Passage) => way !== 'open' && (only === undefined || only === applicationName)

  const obstruct = (passage: Passage) => {
    passage.isLost ||= way !== 'held'
    if (way === 'silent' || way === 'held') {
      passage.client.pause()
      passage.server?.pause()
    } else {
      passage.client.resetAndDestroy()
    }
  }
  const release = (passage: Passage) => {
    if (passage.isLost) return
    passage.server ??= connectThrough(passage)
    passage.client.resume()
    passage.server.resume()
  }
  /** A held connection does not even reach the server: one that waits for a password there holds up others. */
  const connectThrough = ({ client, startup }: Passage): Socket => {
    const server = connect(Number(target.port), target.hostname)
    server.on('error', () => client.destroy())
    server.once('close', () => client.end())
    server.on('data', (bytes) => client.write(bytes))
    client.on('data', (bytes) => server.write(bytes))
    server.write(startup)
    return server
  }

  const listener = createServer((client) => {
    client.on('error', () => {})
    client.once('data', (startup: Buffer) => {
      const applicationName = applicationNameOf(startup)
      const passage: Passage = { applicationName, client, server: undefined, startup, isLost: false }
      passages.add(passage)
      client.once('close', () => {
        passages.delete(passage)
        passage.server?.destroy()
      })
      if (concerns(passage)) obstruct(passage)
      else release(passage)
    })
  }).listen(0, '127.0.0.1')
  await once(listener, 'listening')
  const { port } = listener.address() as { port: number }
  const url = new URL(databaseUrl)
  url.host = `127.0.0.1:${port}`

  return {
    url: url.href,
    passing: (name) => [...passages].filter(({ applicationName }) => applicationName === name).length,
    async set(next, applicationName) {
      way = next
      only = applicationName
      for (const passage of [...passages]) {
        if (concerns(passage)) obstruct(passage)
        else release(passage)
      }
      if (way === 'closed' && only === undefined) {
        listener.close()
      } else if (!listener.listening) {
        listener.listen(port, '127.0.0.1')
        await once(listener, 'listening')
      }
    },
    async close() {
      listener.close()
      for (const { client } of passages) client.destroy()
    },
  }
}

/** The application name in the first message of a client: a length, a version, then names and values. */
function applicationNameOf(startup: Buffer): string {
  const words = startup.subarray(8).toString('utf8').split('\0')
  return words[words.indexOf('application_name') + 1] ?? ''
}
