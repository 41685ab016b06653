/**
 * The main module of a runner: a child process that runs connector code, one job at a time, for the supervisor that started it.
 * It reads no environment and no arguments: it gets everything over the channel between the two processes. An error here ends
 * only this process.
 */
import { createEgress } from '@penstock/connector/egress'
import { loadConnector } from '@penstock/connectors/load'
import { describeDefect, HostChannel, runJob } from './jobs.ts'
import { RunnerSessions } from './kept-sessions.ts'
import { guardAgainstOrphanhood } from './orphan-guard.ts'
import { Ended, type FromRunner, type Job, protocolLimits, type RunnerSettings, type ToRunner } from './protocol.ts'
import { isUnloadable, noteAddedConnectors } from './unloadable.ts'
import { closeWalls } from './walls.ts'

/** The status that a runner exits with after an error that nothing caught. */
const crashStatus = 70
const progressEveryMs = 1_000
/** Idle time in milliseconds after which it loads the code that the next job probably needs. */
const restMs = 200

let settings: RunnerSettings | undefined
let ending: AbortController | undefined
let isGuarded = false
let resting: NodeJS.Timeout | undefined
const host = new HostChannel(send)
const sessions = new RunnerSessions()

// Does not start when this file is compiled, or run without a supervisor.
if (process.connected) start()

function start(): void {
  resting = setTimeout(prepare, restMs)
  process.on('uncaughtException', crash)
  process.on('unhandledRejection', crash)
  process.on('disconnect', () => process.exit(0))
  process.on('message', (message: ToRunner) => {
    switch (message.type) {
      case 'settings':
        settings = message.settings
        noteAddedConnectors(settings.connectorsFolder)
        return
      case 'job':
        void work(message.job)
        return
      case 'end':
        ending?.abort(new Ended(message.resumes))
        return
      case 'answer':
      case 'ended':
        host.receive(message)
    }
  })
  send({ type: 'ready' })
}

/** Loads the code that most jobs need, so that the first job does not wait for it. */
async function prepare(): Promise<void> {
  guard()
  new Response()
  process.getBuiltinModule('node:https')
  await import('@penstock/connector/files')
}

function guard(): void {
  if (!isGuarded) guardAgainstOrphanhood()
  isGuarded = true
}

async function work(job: Job): Promise<void> {
  if (!settings) throw new Error('A job came before the settings')
  clearTimeout(resting)
  guard()
  closeWalls()
  ending = new AbortController()
  // Connections of a job end with it.
  const egress = createEgress(settings.egress)
  const alive = setInterval(() => send({ type: 'alive', rssBytes: process.memoryUsage.rss() }), protocolLimits.aliveMs)
  try {
    const { localFolders, plainHttp, connectorsFolder, programWall } = settings
    const load = (slug: string) => loadConnector(slug, connectorsFolder, programWall)
    const isPart = job.kind === 'transfer' && job.partOf !== undefined
    const kept = isPart ? { sessions: sessions.of(job.partOf) } : {}
    const runtime = { loadConnector: load, egress, localFolders, plainHttp, ...kept }
    const result = await runJob(job, { runtime, host, signal: ending.signal, onProgress: reportProgress })
    await egress.close()
    send({ type: 'done', result })
  } finally {
    clearInterval(alive)
    sessions.wait()
    ending = undefined
  }
}

let reportedMs = 0

/** Not more often than the supervisor needs to know. */
function reportProgress(): void {
  const nowMs = performance.now()
  if (nowMs - reportedMs < progressEveryMs) return
  reportedMs = nowMs
  send({ type: 'progress' })
}

function send(message: FromRunner): void {
  // Without a supervisor nobody receives the report: `disconnect` ends this process.
  if (process.connected) process.send?.(message, undefined, undefined, () => {})
}

/** An uncaught error, usually from a driver's socket. This process can no longer be trusted. */
function crash(error: unknown): void {
  if (!process.connected) process.exit(crashStatus)
  const message = { type: 'crashed', report: describeDefect(error), unloadable: isUnloadable(error) } as const
  process.send?.(message satisfies FromRunner, undefined, undefined, () => process.exit(crashStatus))
}
