import { connectors } from '@penstock/connectors'
import { codeIn, isProgramIn } from '@penstock/connectors/installed'
import type { Config } from '../config.ts'
import { egressOptions } from '../egress-settings.ts'
import { findProgramWall } from './program-wall.ts'
import type { PoolOptions } from './runner-pool.ts'
import { findRunnerUser } from './runner-user.ts'

/** A runner that does not respond for this long is killed, in milliseconds: no legitimate work blocks an event loop as long. */
const stallMs = 30_000

const ownSlugs = new Set(connectors.map(({ slug }) => slug))

/**
 * The runners of a process, by its settings.
 * @throws ConfigError if they cannot have the user that is set
 */
export function runnerOptions(config: Config): PoolOptions {
  return {
    settings: {
      egress: egressOptions(config.egress),
      plainHttp: config.plainHttp,
      localFolders: config.localFolders,
      connectorsFolder: config.connectorsFolder,
    },
    user: findRunnerUser(config).user,
    memoryBytesMax: config.runnerMemoryMb * 1024 ** 2,
    stallMs,
    spare: true,
    // The folder can come back while the process lives.
    isProgram: (slug) => !ownSlugs.has(slug) && isProgramIn(config.connectorsFolder, slug),
    codeOf: (slug) => (ownSlugs.has(slug) ? undefined : codeIn(config.connectorsFolder, slug)),
    findWall: () => findProgramWall(config),
  }
}
