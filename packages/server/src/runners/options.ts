import type { Config } from '../config.ts'
import type { PoolOptions } from './runner-pool.ts'

/** A runner that does not respond for this long is killed, in milliseconds: no legitimate work blocks an event loop as long. */
const stallMs = 30_000

/** The runners of a process, by its settings. */
export const runnerOptions = ({ egress, plainHttp, localFolders, runnerMemoryMb }: Config): PoolOptions => ({
  settings: { egress: { networkPolicy: egress.networkPolicy, allow: egress.allow }, plainHttp, localFolders },
  memoryBytesMax: runnerMemoryMb * 1024 ** 2,
  stallMs,
  spare: true,
})
