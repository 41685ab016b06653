import type { Transfer } from '@penstock/wire'
import { connection as sayConnection } from '../../strings/connection.ts'
import { transfer as say } from '../../strings/transfer.ts'

/** How a transfer was started, with the name of the actor if it is known. */
export function startOf({ trigger, startedBy }: Transfer): string {
  if (!startedBy || trigger === 'schedule' || trigger === 'rejects') return say.triggers[trigger]
  if (trigger === 'dependency') return startedBy.name ? say.startedAfter(startedBy.name) : say.triggers.dependency
  if (trigger === 'url') return startedBy.name ? say.startedByTrigger(startedBy.name) : say.triggers.url
  const who = sayConnection.actors[startedBy.kind](startedBy.name ?? startedBy.id ?? '')
  return trigger === 'replay' ? say.replayedBy(who) : say.startedBy(who)
}
