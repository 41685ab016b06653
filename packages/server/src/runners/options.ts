import { programsIn } from '@penstock/connectors/installed'
import type { Config } from '../config.ts'
import type { PoolOptions } from './runner-pool.ts'
import { findRunnerUser } from './runner-user.ts'

/** A runner that does not respond for this long is killed, in milliseconds: no legitimate work blocks an event loop as long. */
const stallMs = 30_000

/**
 * The runners of a process, by its settings.
 * @throws ConfigError if they cannot have the user that is set
 */
export const runnerOptions = (config: Config): PoolOptions => ({
  settings: {
    egress: { networkPolicy: config.egress.networkPolicy, allow: config.egress.allow },
    plainHttp: config.plainHttp,
    localFolders: config.localFolders,
    connectorsFolder: config.connectorsFolder,
  },
  user: findRunnerUser(config).user,
  memoryBytesMax: config.runnerMemoryMb * 1024 ** 2,
  stallMs,
  spare: true,
  programs: programsIn(config.connectorsFolder),
})
