import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { remembered } from './imports.ts'
import type { EndedFile } from './lanes.ts'
import { isLarge } from './tiers.ts'

type Seconds = Readonly<Record<string, number>>

/**
 * The recorded duration of each test file, in `test/durations.json`. The longest files start first, and the records keep the
 * tests that guard every change small, because clocks differ between machines and days.
 */
type Durations = {
  /** How long all tests of a file took, in seconds. */
  readonly seconds: Seconds
  /** How much processor time all tests of a file took, in seconds, without PostgreSQL. */
  readonly processorSeconds: Seconds
  /** The same of the tests that `npm test` runs. */
  readonly guardProcessorSeconds: Seconds
}

const root = dirname(dirname(import.meta.dirname))
const path = join(root, 'test/durations.json')

export const readDurations = (): Durations => ({ processorSeconds: {}, ...JSON.parse(readFileSync(path, 'utf8')) })

/** Whether the duration of a test file is recorded. */
export function isRecorded(file: string): boolean {
  const { seconds, guardProcessorSeconds } = readDurations()
  return file in seconds && (isLarge(file) || file in guardProcessorSeconds)
}

/**
 * Records the files that ended. Files that no longer exist are removed, and the other files keep their record.
 * @param skipsLarge whether tests with the option `large` were skipped
 * @param isMissingOnly whether files that are recorded keep their record too
 */
export function recordDurations(
  ended: readonly EndedFile[],
  { skipsLarge, isMissingOnly }: { readonly skipsLarge: boolean; readonly isMissingOnly: boolean },
): void {
  const known = readDurations()
  // A file whose large tests did not run keeps the time of the whole file.
  const whole = ended.filter(({ file }) => !skipsLarge || isLarge(file))
  const guarding = ended.filter(({ file }) => !isLarge(file) && (skipsLarge || !hasLargeTests(file)))
  const added = (before: Seconds, now: Seconds) =>
    withExisting(isMissingOnly ? { ...now, ...before } : { ...before, ...now })
  const durations: Durations = {
    seconds: added({ ...secondsOf(ended.filter((one) => !whole.includes(one))), ...known.seconds }, secondsOf(whole)),
    processorSeconds: added(known.processorSeconds, processorSecondsOf(whole)),
    guardProcessorSeconds: added(known.guardProcessorSeconds, processorSecondsOf(guarding)),
  }
  writeFileSync(path, `${JSON.stringify(durations, null, 2)}\n`)
}

/** Whether `large` marks tests of a file. */
export const hasLargeTests: (file: string) => boolean = remembered((file) =>
  /\blarge\b.*\/tiers\.ts'/.test(readFileSync(join(root, file), 'utf8')),
)

/** A table of test files with their records, the slowest first, and their sum. */
export function listOf(files: readonly string[]): string {
  const { seconds, processorSeconds, guardProcessorSeconds } = readDurations()
  const takes = files
    .map((file) => ({
      file,
      seconds: seconds[file],
      processor: isLarge(file) ? processorSeconds[file] : guardProcessorSeconds[file],
    }))
    .sort((a, b) => (b.processor ?? 0) - (a.processor ?? 0))
  const line = (time: number | undefined, processor: number | undefined, what: string) =>
    `${(time?.toFixed(0) ?? '-').padStart(8)} s ${(processor?.toFixed(1) ?? '-').padStart(10)} s  ${what}`
  const sum = (values: readonly (number | undefined)[]) => values.reduce<number>((total, one) => total + (one ?? 0), 0)
  const unknown = takes.filter(({ processor }) => processor === undefined).length
  return [
    '      time    processor',
    ...takes.map(({ file, seconds: time, processor }) => line(time, processor, file)),
    line(
      sum(takes.map((one) => one.seconds)),
      sum(takes.map((one) => one.processor)),
      `${files.length} files, ${unknown} not recorded`,
    ),
  ].join('\n')
}

const secondsOf = (ended: readonly EndedFile[]) => valuesOf(ended, ({ seconds }) => Math.round(seconds))

const processorSecondsOf = (ended: readonly EndedFile[]) =>
  valuesOf(ended, ({ processorSeconds }) => Number(processorSeconds.toFixed(1)))

const valuesOf = (ended: readonly EndedFile[], measure: (one: EndedFile) => number): Seconds =>
  Object.fromEntries(ended.map((one) => [one.file, measure(one)]))

/** The records of files that exist, in the order of their names. */
const withExisting = (values: Seconds): Seconds =>
  Object.fromEntries(
    Object.entries(values)
      .filter(([file]) => existsSync(join(root, file)))
      .toSorted(([a], [b]) => (a < b ? -1 : 1)),
  )
