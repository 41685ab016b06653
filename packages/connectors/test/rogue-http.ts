import { once } from 'node:events'
import net, { type AddressInfo, type Socket } from 'node:net'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'
import { type Behaviour, behaviours, mutation } from './rogue-behaviours.ts'

/**
 * An HTTP server that misbehaves. The first part of the path says how, spelt without spaces, or `mutation` and a number:
 *
 *     node packages/connectors/test/rogue-http.ts --port 9999
 *
 * | Connector | What to set |
 * |---|---|
 * | HTTPS File | URL `http://127.0.0.1:9999/bodytrickle/people.csv` |
 * | Amazon S3 | Endpoint `http://127.0.0.1:9999/listendless` |
 * | Webhook | URL `http://127.0.0.1:9999/jsoncut` |
 * | Azure Blob Storage | Account name `http://127.0.0.1:9999/xmldeep`, any access key in Base64 |
 *
 * `http://127.0.0.1:9999/` lists all of them. With `--seed`, each request that names none meets another mutation.
 */
export type RogueServer = {
  readonly origin: string
  /** The behaviour for requests without a name, such as requests of a platform whose address cannot be changed. */
  otherwise: Behaviour | undefined
  close(): Promise<void>
}

const slugOf = (name: string): string => name.replaceAll(' ', '')
const bySlug = new Map(Object.entries(behaviours).map(([name, behaviour]) => [slugOf(name), behaviour]))

/** The names of all behaviours, as they are spelt in a path. */
export const rogueNames: readonly string[] = [...bySlug.keys()]

/** The behaviour of a name in a path. */
export function behaviourOf(name: string): Behaviour | undefined {
  const [, seed] = /^mutation(\d{1,9})$/.exec(name) ?? []
  return seed === undefined ? bySlug.get(name) : mutation(Number(seed))
}

/**
 * Starts a rogue server on the loopback address.
 * @param port 0 for one that is free
 */
export async function startRogueServer(port = 0): Promise<RogueServer> {
  const sockets = new Set<Socket>()
  let number = 0
  const server = net.createServer((socket) => {
    sockets.add(socket)
    socket.on('error', () => {})
    socket.on('close', () => sockets.delete(socket))
    let head = ''
    const read = (bytes: Buffer) => {
      head += bytes.toString('latin1')
      if (!head.includes('\r\n\r\n')) return
      const asked = head
      const [method = '', url = ''] = asked.split(' ')
      head = ''
      // The body of a request is read and forgotten, or it could not be sent.
      if (method !== 'GET' && method !== 'HEAD') socket.off('data', read).resume()
      const [, name = ''] = url.split(/[/?]/)
      number += 1
      const behaviour = behaviourOf(name) ?? rogue.otherwise ?? listNames
      behaviour(socket, { method, url, head: asked, number })
    }
    socket.on('data', read)
  })
  server.listen(port, '127.0.0.1')
  await once(server, 'listening')
  const rogue: RogueServer = {
    origin: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    otherwise: undefined,
    async close() {
      for (const socket of sockets) socket.destroy()
      server.close()
      await once(server, 'close')
    },
  }
  return rogue
}

const listNames: Behaviour = (socket) => {
  const body = `${[...rogueNames, 'mutation1'].join('\n')}\n`
  socket.end(`HTTP/1.1 200 OK\r\ncontent-type: text/plain\r\ncontent-length: ${body.length}\r\n\r\n${body}`)
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const { values } = parseArgs({ options: { port: { type: 'string', default: '0' }, seed: { type: 'string' } } })
  const rogue = await startRogueServer(Number(values.port))
  let seed = Number(values.seed)
  if (values.seed !== undefined) rogue.otherwise = (socket, request) => mutation(seed++)(socket, request)
  process.stdout.write(`${rogue.origin} with ${rogueNames.length} behaviours\n`)
}
