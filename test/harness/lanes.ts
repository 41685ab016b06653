import { type ChildProcess, execFileSync, fork } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { spec, type TestEvent } from 'node:test/reporters'
import { pathToFileURL } from 'node:url'
import { inspect } from 'node:util'
import { usesJobs } from './uses.ts'

/** Messages of a lane: that it waits for its first file, the reports of its tests, and that a file has ended. */
export type FromLane =
  | { readonly kind: 'ready' }
  | { readonly kind: 'event'; readonly event: TestEvent }
  | {
      readonly kind: 'ended'
      readonly processorSeconds: number
      readonly leaked: readonly string[]
      readonly jobs: readonly string[]
    }

/** The next file, by its absolute path and its name in reports. Empty if the lane can end. */
export type ToLane = { readonly path?: string; readonly name?: string }

/** A test file that has ended. */
export type EndedFile = {
  readonly file: string
  readonly isPassed: boolean
  readonly seconds: number
  readonly processorSeconds: number
}

export type LanesOptions = {
  /** The test files, relative to `root`, in the order in which they start. */
  readonly files: readonly string[]
  readonly root: string
  /** How many files run at the same time. */
  readonly count: number
  /** Whether a file needs a process that no other file uses. */
  readonly isAlone: (file: string) => boolean
  /** Whether a waiting file can start, given the files that have ended. */
  readonly mayStart: (file: string, ended: readonly EndedFile[]) => boolean
  /** Time limit of a file, in seconds. */
  readonly fileSeconds: (file: string) => number
  readonly env: NodeJS.ProcessEnv
  /** Flags of Node for the processes of the tests. */
  readonly flags: readonly string[]
  /** Is given each process, which leads a process group. */
  readonly onLane: (lane: ChildProcess) => void
}

/**
 * Runs test files in a few processes, each of which runs one file after another. Node's own runner starts a process for each
 * file, which loads everything again. Prints the same output as `node --test`, with the tests of one file together.
 *
 * A file fails if one of its tests fails, if it leaves something open, if it runs jobs that `uses.ts` does not expect of it, if
 * its process ends, or if it exceeds its time limit. In the last case it is killed with its children.
 */
export async function runInLanes(
  options: LanesOptions,
): Promise<{ readonly isPassed: boolean; readonly ended: readonly EndedFile[]; readonly left: readonly string[] }> {
  const report = new Report()
  const ended: EndedFile[] = []
  const waiting = [...options.files]
  const mayStart = (file: string) => options.mayStart(file, ended)
  const work = async () => {
    while (waiting.some(mayStart)) await runLane({ ...options, mayStart }, waiting, ended, report)
  }
  await Promise.all(Array.from({ length: Math.min(options.count, waiting.length) }, work))
  await report.end()
  return { isPassed: report.isPassed, ended, left: waiting }
}

/** Starts a process and sends it files from `waiting` until no file can start, or until the process ends. */
async function runLane(
  {
    root,
    isAlone,
    mayStart,
    fileSeconds,
    env,
    flags,
    onLane,
  }: Omit<LanesOptions, 'mayStart'> & { readonly mayStart: (file: string) => boolean },
  waiting: string[],
  allEnded: EndedFile[],
  report: Report,
): Promise<void> {
  const lane = fork(join(import.meta.dirname, 'lane.ts'), [], {
    cwd: root,
    env,
    execArgv: [
      `--import=${pathToFileURL(join(import.meta.dirname, 'lane-preload.ts')).href}`,
      `--test-reporter=${join(import.meta.dirname, 'lane-reporter.ts')}`,
      ...flags,
    ],
    serialization: 'advanced',
    detached: true,
    stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
  })
  onLane(lane)
  let last: string | undefined
  let current: RunningFile | undefined

  const start = () => {
    const isFree = last === undefined || !isAlone(last)
    const at = isFree ? waiting.findIndex((file) => (last === undefined || !isAlone(file)) && mayStart(file)) : -1
    const [file] = at < 0 ? [] : waiting.splice(at, 1)
    if (!file) return void lane.send({} satisfies ToLane)
    const seconds = fileSeconds(file)
    const timer = setTimeout(() => {
      end(
        `${file} did not end within ${seconds} s and was killed: a test does not end, or something is still open after the tests.`,
      )
      killTree(lane.pid)
    }, seconds * 1000)
    current = { file, timer, startedMs: performance.now(), events: [], isReported: false, processorSeconds: undefined }
    lane.send({ path: join(root, file), name: file } satisfies ToLane)
  }
  const end = (why?: string) => {
    if (!current) return
    const { file, timer, startedMs, events, processorSeconds = 0 } = current
    clearTimeout(timer)
    current = undefined
    last = file
    const seconds = (performance.now() - startedMs) / 1000
    allEnded.push({ file, isPassed: report.add(events, why), seconds, processorSeconds })
  }
  lane.on('message', (message: FromLane) => {
    if (message.kind === 'ready') return start()
    if (!current) return
    if (message.kind === 'event') {
      const { type, data } = message.event
      current.events.push(message.event)
      current.isReported ||= (type === 'test:pass' || type === 'test:fail') && data.nesting === 0
    } else {
      current.processorSeconds = message.processorSeconds
      const { file } = current
      if (message.leaked.length > 0) current.why = `${file} left open: ${message.leaked.join(', ')}.`
      const unforeseen = message.jobs.filter((kind) => !usesJobs(file, kind))
      if (unforeseen.length > 0) {
        current.why = `${file} ran jobs that \`--changed\` does not expect of it: ${unforeseen.join(', ')}. Correct test/harness/uses.ts.`
      }
    }
    // The process reports the last events of a file after its end.
    if (!current.isReported || current.processorSeconds === undefined) return
    end(current.why)
    start()
  })
  const [code, signal] = await once(lane, 'exit')
  // The next process would end as well.
  if (code && last === undefined && !current) throw new Error(`A process of the tests ended at its start (${code}).`)
  end(`${current?.file} ended the process of its tests (${signal ?? code}).`)
  killGroup(lane.pid)
}

type RunningFile = {
  readonly file: string
  readonly timer: NodeJS.Timeout
  readonly startedMs: number
  readonly events: TestEvent[]
  /** Whether the event of the whole file has come. */
  isReported: boolean
  /** Known once the file has ended. */
  processorSeconds: number | undefined
  why?: string
}

/** Prints the results of all files as one run. */
class Report {
  readonly #printer = spec()
  readonly #startedMs = performance.now()
  readonly #counts = { tests: 0, suites: 0, pass: 0, fail: 0, cancelled: 0, skipped: 0, todo: 0 }
  readonly #sentences: string[] = []

  constructor() {
    this.#printer.pipe(process.stdout)
  }

  get isPassed(): boolean {
    return this.#counts.fail === 0 && this.#counts.cancelled === 0 && this.#sentences.length === 0
  }

  /**
   * Adds the events of a file.
   * @param why why the file failed, if it is not for its tests
   * @returns whether the file passed
   */
  add(events: readonly TestEvent[], why?: string): boolean {
    for (const event of events) {
      this.#count(event)
      this.#printer.write(printable(event))
    }
    if (!why) return !events.some(({ type }) => type === 'test:fail')
    this.#sentences.push(why)
    console.error(why)
    return false
  }

  /** Prints the totals, and again why files failed: below the report of thousands of tests. */
  async end(): Promise<void> {
    const lines = Object.entries(this.#counts).map(([name, count]) => `${name} ${count}`)
    for (const message of [...lines, `duration_ms ${(performance.now() - this.#startedMs).toFixed(0)}`]) {
      this.#printer.write({ type: 'test:diagnostic', data: { nesting: 0, message, level: 'info' } })
    }
    this.#printer.end()
    await once(this.#printer, 'end')
    for (const sentence of this.#sentences) console.error(sentence)
  }

  #count(event: TestEvent): void {
    if (event.type !== 'test:pass' && event.type !== 'test:fail') return
    const { details, skip, todo, nesting } = event.data
    // Each file is a suite.
    if (details.type === 'suite') {
      if (nesting > 0) this.#counts.suites++
      if (event.type === 'test:fail' && failureOf(event) !== 'subtestsFailed') this.#counts.fail++
      return
    }
    this.#counts.tests++
    if (skip !== undefined) this.#counts.skipped++
    else if (todo !== undefined) this.#counts.todo++
    else if (event.type === 'test:pass') this.#counts.pass++
    else if (failureOf(event) === 'cancelledByParent') this.#counts.cancelled++
    else this.#counts.fail++
  }
}

/** An error of a test, as a lane sends it. */
export type SentError = { readonly failureType: string | undefined; readonly text: string }

const failureOf = (event: TestEvent & { type: 'test:fail' }) =>
  (event.data.details.error as unknown as SentError).failureType

/** The event in the form that Node's reporter accepts: with an error that prints the text that the lane sent. */
function printable(event: TestEvent): TestEvent {
  if (event.type !== 'test:fail') return event
  const { failureType, text } = event.data.details.error as unknown as SentError
  const cause = { [inspect.custom]: () => text }
  const error = Object.assign(new Error(text), { code: 'ERR_TEST_FAILURE', failureType, cause })
  return { ...event, data: { ...event.data, details: { ...event.data.details, error } } } as unknown as TestEvent
}

/** Kills what a lane has left in its process group. */
function killGroup(pid: number | undefined): void {
  try {
    if (pid !== undefined) process.kill(-pid, 'SIGKILL')
  } catch {
    // All of it has ended.
  }
}

/** Kills a process and its descendants, including descendants with their own process group. */
function killTree(pid: number | undefined): void {
  if (pid === undefined) return
  for (const each of [pid, ...descendantsOf(pid)]) {
    try {
      process.kill(each, 'SIGKILL')
    } catch {
      // It has ended.
    }
  }
}

function descendantsOf(pid: number): number[] {
  let table: string
  try {
    table = execFileSync('ps', ['-A', '-o', 'pid=,ppid='], { encoding: 'utf8' })
  } catch {
    // A machine without ps: the process group is killed at the end.
    return []
  }
  const processes = table
    .trim()
    .split('\n')
    .map((line) => line.trim().split(/\s+/).map(Number))
  const found = [pid]
  for (const parent of found) {
    found.push(...processes.flatMap(([child = 0, of]) => (of === parent ? [child] : [])))
  }
  return found.slice(1)
}
