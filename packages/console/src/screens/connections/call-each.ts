import type { Connection } from '@penstock/wire'
import { describe } from '../../components/describe.ts'

type Named = Pick<Connection, 'id' | 'name'>
export type Refusal = { readonly connection: Named; readonly why: string }

/** How many calls are made concurrently. */
const callsMax = 4

/** Calls an operation for each connection. @returns the refusals, in words */
export async function callEach<C extends Named>(
  connections: readonly C[],
  call: (connection: C) => Promise<unknown>,
): Promise<readonly Refusal[]> {
  const waiting = [...connections]
  const refusals: Refusal[] = []
  const work = async () => {
    for (let connection = waiting.shift(); connection; connection = waiting.shift()) {
      try {
        await call(connection)
      } catch (error) {
        const { title, help } = describe(error)
        refusals.push({ connection, why: [title, help].filter(Boolean).join('. ') })
      }
    }
  }
  await Promise.all(Array.from({ length: callsMax }, work))
  return refusals
}
