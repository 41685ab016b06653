import type { Me } from '@penstock/wire'
import { keyOf, queryClient } from './queries.ts'
import { takePerson } from './session.ts'

/** Begins the session of a person in the console, who has just proven who they are. */
export function enter(me: Me): void {
  takePerson(me)
  // After what was read before is forgotten: the first screen knows what they may do.
  queryClient.setQueryData(keyOf('getMe', {}), { reply: me })
}
