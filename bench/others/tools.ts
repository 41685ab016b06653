import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { text } from 'node:stream/consumers'

/** Other programs that do the same work, and their time. */

/** Wall time and processor time of a program and its children, in seconds. */
export type Taken = { readonly seconds: number; readonly processor: number }

/** Whether a program is installed. */
export const isInstalled = async (program: string): Promise<boolean> => {
  const [code] = await once(spawn('which', [program], { stdio: 'ignore' }), 'exit')
  return code === 0
}

/**
 * Runs a line of Bash, and measures it as Bash does: the processor time includes its processes, not the servers. If it fails,
 * throws an error with its output.
 */
export async function runLine(line: string): Promise<Taken> {
  const timed = `set -e -o pipefail; TIMEFORMAT='%R %U %S'; time ( ${line} )`
  const child = spawn('bash', ['-c', timed], { stdio: ['ignore', 'ignore', 'pipe'] })
  const written = text(child.stderr)
  const [code] = await once(child, 'exit')
  const output = (await written).trim()
  const [seconds, user, system] = (output.split('\n').at(-1) ?? '').split(' ').map(Number)
  if (code !== 0 || seconds === undefined || user === undefined || system === undefined) throw new Error(output)
  return { seconds, processor: user + system }
}

/** The lines that copy a table of one database to the same table of another, by the name of the tool. */
export const linesOf = (from: string, to: string, table: string): Readonly<Record<string, string>> => {
  const copy = (format: string) =>
    `psql -qX '${from}' -c "copy ${table} to stdout (format ${format})" | psql -qX '${to}' -c "copy ${table} from stdin (format ${format})"`
  return {
    'pg_dump | psql': `pg_dump --data-only --table=${table} '${from}' | psql -qX '${to}'`,
    'COPY | COPY': copy('text'),
    'COPY | COPY, binary': copy('binary'),
    pgloader: `pgloader --with "data only" '${from}?tablename=${table}' '${to}'`,
  }
}
