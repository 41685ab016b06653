import { createEgress } from '@penstock/connector/egress'
import type { Config } from '../config.ts'
import type { Reach } from './ends.ts'

/** Makes what every connector of this process is given: the way out, and the directories that the operator allows. */
export function createReach({ egress, localFolders }: Config): Reach & { close(): Promise<void> } {
  const way = createEgress({ reach: egress.reach, allow: egress.allow })
  return { egress: way, localFolders, close: async () => way.close() }
}
