import { rm } from 'node:fs/promises'
import { createServer } from 'node:net'
import { join } from 'node:path'
import type { Owner } from './command.ts'
import { makeDirectory } from './files.ts'

/**
 * In addition to its port, the server listens on a socket of the file system: a query through it takes the service and the
 * server a fifth less processor time. Clients that cannot use the socket connect to the port.
 */

/** Maximum length of the path of a socket, in bytes: 107 on Linux, 103 on macOS. */
const pathBytesMax = 103

/** The path of the socket in its directory. */
export const socketPath = (directory: string, port: number) => join(directory, `.s.PGSQL.${port}`)

/**
 * Creates an empty directory for the socket, which only the user who runs the server, and root, can enter. Call it while no
 * server runs. Files of a server that died could prevent the next one from starting.
 * @returns undefined if a socket is not possible: if the path is too long, on some file systems that containers get from their
 * host, or on Windows
 */
export async function prepareSocketDirectory({ home, owner }: { readonly home: string; readonly owner: Owner }) {
  const directory = join(home, 'socket')
  if (Buffer.byteLength(socketPath(directory, 65_535)) > pathBytesMax) return undefined
  await rm(directory, { recursive: true, force: true })
  await makeDirectory(directory, 0o700, owner)
  // PostgreSQL would not start.
  return (await canListen(join(directory, 'try'))) ? directory : undefined
}

function canListen(path: string): Promise<boolean> {
  return new Promise((resolve) => {
    const server = createServer()
    server.once('error', () => resolve(false))
    server.listen(path, () => server.close(() => resolve(true)))
  })
}
