import type { Config } from '../config.ts'
import type { Logger } from '../log.ts'

/** Makes the action of a command from what it loads when it runs. */
export type WithConfig = <A extends unknown[]>(
  load: () => Promise<(config: Config, log: Logger, ...rest: A) => Promise<void>>,
  options?: { quiet?: boolean; listens?: boolean },
) => (...rest: A) => Promise<void>
