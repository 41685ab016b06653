import { execFile } from 'node:child_process'
import { once } from 'node:events'
import { createWriteStream } from 'node:fs'
import { join } from 'node:path'
import { finished } from 'node:stream/promises'
import { promisify } from 'node:util'
import type { Fixture, Worker } from './transfer-fixture.ts'

/** Transfers with few changed rows, compared with only reading and hashing. */

const file = 'changed.csv'

/** Writes rows of 5 columns. @param version every thousandth row has it in a column */
async function writeVersion(folder: string, rows: number, version: number): Promise<void> {
  const stream = createWriteStream(join(folder, file), { mode: 0o644 })
  stream.write('id,name,email,city,amount\n')
  for (let id = 1; id <= rows; ) {
    let lines = ''
    for (const until = Math.min(rows, id + 4_999); id <= until; id++) {
      lines += `${id},Given${id % 997} Family${id % 1009},person.${id}@example.com,City ${id % 499},${id % 1_000 === 0 ? version : id % 100_000}\n`
    }
    if (!stream.write(lines)) await once(stream, 'drain')
  }
  stream.end()
  await finished(stream)
}

type Round = {
  /** Seconds of the transfer, and of the limit. */
  readonly seconds: number
  readonly limit: number
  /** Processor time in seconds: of the runner, of its supervisor, of the limit. */
  readonly runner: number
  readonly supervisor: number
  readonly alone: number
}

/**
 * Sends a file once, and then again in each round, after 0.1 % of its rows changed, alternately with the limit.
 * @returns the rounds, the state in bytes a row, and the maximum memory of the runner and its memory when idle, in MB
 */
export async function moveChanged(
  fixture: Fixture,
  worker: Worker,
  { folder, rows, rounds }: { readonly folder: string; readonly rows: number; readonly rounds: number },
) {
  await writeVersion(folder, rows, 0)
  const id = await fixture.connectToFolder(file, { subfolder: 'changed', sendRows: 'Changed', rowKey: 'id' })
  const idle = worker.processes.runnerMemoryMb()
  const first = await fixture.run(id)
  const all: Round[] = []
  for (let round = 1; round <= rounds; round++) {
    await writeVersion(folder, rows, round)
    const before = { runner: worker.processes.runnerSeconds(), supervisor: worker.processes.supervisorSeconds() }
    const seconds = await fixture.run(id)
    const runner = worker.processes.runnerSeconds() - before.runner
    const supervisor = worker.processes.supervisorSeconds() - before.supervisor
    const alone = await hashAlone(folder)
    all.push({ seconds, limit: alone.seconds, runner, supervisor, alone: alone.processor })
  }
  const state = await fixture.stateOf(id)
  return {
    first,
    rounds: all,
    bytesEach: state.records / rows,
    pages: state.pages,
    idle,
    peak: worker.processes.runnerPeakMb(),
  }
}

/**
 * The state of a mirror with integer keys, in bytes a row: of records and of keys. @param rows number of rows, which are all read
 * twice
 */
export async function keepMirror(fixture: Fixture, folder: string, rows: number) {
  await writeVersion(folder, rows, 0)
  const id = await fixture.connectToMirror(file)
  await fixture.run(id)
  const first = await fixture.stateOf(id)
  await fixture.run(id)
  const state = await fixture.stateOf(id)
  return { first: (first.records + first.keys) / rows, records: state.records / rows, keys: state.keys / rows }
}

async function hashAlone(folder: string): Promise<{ seconds: number; processor: number }> {
  const program = join(import.meta.dirname, 'hash-alone.ts')
  const { stdout } = await promisify(execFile)(process.execPath, [program, folder, file])
  return JSON.parse(stdout) as { seconds: number; processor: number }
}
