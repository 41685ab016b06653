import { randomInt } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import { createServer } from 'node:net'
import { join } from 'node:path'
import { hasCode, writeAtomically } from './files.ts'

/**
 * The port of a server: chosen once and kept in a file, so that the server comes back where all processes look for it,
 * whichever of them starts it.
 */

/**
 * Range of the chosen ports: below the range of outgoing connections, since such a connection could take the port of a
 * server that restarts.
 */
const chosenFrom = 20_000
const chosenBelow = 32_768
const tries = 100

const portFile = (home: string) => join(home, 'port')

/** The stored port if it is free, else another one. */
export async function choosePort(home: string): Promise<number> {
  const kept = await readPort(home)
  if (kept !== undefined && (await isFree(kept))) return kept
  for (let count = 0; count < tries; count++) {
    const port = randomInt(chosenFrom, chosenBelow)
    if (await isFree(port)) return port
  }
  throw new Error(
    `No free port was found for PostgreSQL on 127.0.0.1 in ${tries} tries between ${chosenFrom} and ${chosenBelow - 1}. End programs that listen there, or set DATABASE_URL to a PostgreSQL of your own.`,
  )
}

/** Keeps the port that the server runs on. */
export async function keepPort(home: string, port: number): Promise<void> {
  if ((await readPort(home)) !== port) await writeAtomically(portFile(home), `${port}\n`)
}

/** Whether a server could listen on the port of the loopback address. */
export function isFree(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const server = createServer()
    server.once('error', () => resolve(false))
    server.listen(port, '127.0.0.1', () => server.close(() => resolve(true)))
  })
}

async function readPort(home: string): Promise<number | undefined> {
  try {
    const port = Number(await readFile(portFile(home), 'utf8'))
    return Number.isInteger(port) && port > 0 && port < 65_536 ? port : undefined
  } catch (error) {
    if (hasCode(error, 'ENOENT')) return undefined
    throw error
  }
}
