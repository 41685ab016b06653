import { link, mkdir, open, readdir } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import type { Fixture, Worker } from './transfer-fixture.ts'

/** One transfer in parts, whose workers are killed in the meantime, and a check of the files that they wrote. */

/** A part is a file, and the parts of a dead worker are claimed again after two seconds. */
const env = { PENSTOCK_PART_MB: '0', PENSTOCK_TRANSFERS: '1', PENSTOCK_HEARTBEAT_TIMEOUT_SECONDS: '2' }

export type KilledTransfer = {
  readonly seconds: number
  readonly kills: number
  /** Parts that more than one worker had. */
  readonly movedAgain: number
  /** Records that the service counts. */
  readonly accepted: number
  readonly outFolder: string
}

/**
 * Moves a file under many names, over two workers. Every few seconds, one of them is killed (SIGKILL) and started again.
 * @param folder contains the file, and gets a folder with its copies and a folder with the output
 * @param file name of a file in the folder
 * @param everySeconds average time between two kills
 */
export async function moveUnderKills(
  fixture: Fixture,
  { folder, file, files, everySeconds }: { folder: string; file: string; files: number; everySeconds: number },
): Promise<KilledTransfer> {
  await mkdir(join(folder, 'many'))
  for (let i = 0; i < files; i++) {
    await link(join(folder, file), join(folder, 'many', `${String(i).padStart(4, '0')}.csv`))
  }
  const id = await fixture.connectToFolder('many/*.csv', { subfolder: 'killed', severalFiles: true })
  const workers: Worker[] = [await fixture.startWorker(env), await fixture.startWorker(env)]
  let isOver = false
  const moved = fixture.run(id).finally(() => {
    isOver = true
  })
  // It is awaited below.
  moved.catch(() => {})
  let kills = 0
  while (!isOver) {
    await Promise.race([moved.catch(() => {}), delay(2_000 * everySeconds * Math.random())])
    if (isOver) break
    const which = Math.floor(Math.random() * workers.length)
    await workers[which]?.kill()
    kills++
    workers[which] = await fixture.startWorker(env)
  }
  for (const worker of workers) await worker.stop()
  return { seconds: await moved, kills, ...(await fixture.lastOf(id)), outFolder: join(folder, 'killed') }
}

/** Counts of written files: rows in all, the sum of their identifiers, and files that do not have each row once. */
export type Written = {
  readonly files: number
  readonly bytes: number
  readonly rows: number
  readonly sumOfIds: bigint
  readonly wrong: readonly string[]
}

/** Reads all files of a folder. @param rows number of identifiers from 1, each of which a file must contain once */
export async function readWritten(folder: string, rows: number): Promise<Written> {
  const names = await readdir(folder)
  const wrong: string[] = []
  let [all, bytes, sumOfIds] = [0, 0, 0n]
  for (const name of names) {
    const seen = new Uint8Array(rows + 1)
    let [count, sum, strange] = [0, 0, 0]
    bytes += await readIds(join(folder, name), (id) => {
      if (id < 1 || id > rows || seen[id] !== 0) strange++
      else seen[id] = 1
      count++
      sum += id
    })
    if (strange > 0 || count !== rows) wrong.push(`${name}: ${count} rows, ${strange} of them unknown or there before`)
    all += count
    sumOfIds += BigInt(sum)
  }
  return { files: names.length, bytes, rows: all, sumOfIds, wrong }
}

/** Hands on the number at the beginning of each line but the first, and answers how many bytes the file has. */
async function readIds(file: string, take: (id: number) => void): Promise<number> {
  await using handle = await open(file)
  let rest = Buffer.alloc(0)
  let [isHeader, length] = [true, 0]
  for await (const piece of handle.createReadStream({ highWaterMark: 4 << 20, autoClose: false })) {
    length += (piece as Buffer).length
    const bytes = Buffer.concat([rest, piece as Buffer])
    let from = 0
    for (let end = bytes.indexOf(10); end >= 0; end = bytes.indexOf(10, from)) {
      let id = 0
      for (let at = from; bytes[at] !== 44 && at < end; at++) id = id * 10 + ((bytes[at] ?? 0) - 48)
      if (!isHeader) take(id)
      isHeader = false
      from = end + 1
    }
    rest = bytes.subarray(from)
  }
  return length
}
