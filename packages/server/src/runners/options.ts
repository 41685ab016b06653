import type { Config } from '../config.ts'
import type { PoolOptions } from './runner-pool.ts'

/** Without a sign of life for so long a runner is killed, in milliseconds: no honest work holds an event loop as long. */
const stallMs = 30_000

/** The runners of a process, by its settings. */
export const runnerOptions = ({ egress, plainHttp, localFolders, runnerMemoryMb }: Config): PoolOptions => ({
  settings: { egress: { networkPolicy: egress.networkPolicy, allow: egress.allow }, plainHttp, localFolders },
  memoryBytesMax: runnerMemoryMb * 1024 ** 2,
  stallMs,
  spare: true,
})
