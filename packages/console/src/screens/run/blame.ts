import type { Connection } from '@penstock/wire'
import { readOnce } from '../../api/queries.ts'

/** Which side of a connection an error is about. */

/** Characters; shorter values stand in a sentence by chance. */
const valueLengthMin = 4

export type SideSummary = Connection['src']

/**
 * The side that an error speaks of: the one that is not configured, the one whose platform the message names, or the one
 * whose configuration holds what it names, such as a host. Undefined where that could be either.
 */
export async function blamedSide(
  { accountId, src, dest }: Pick<Connection, 'accountId' | 'src' | 'dest'>,
  message: string | undefined,
): Promise<SideSummary | undefined> {
  const sides = [src, dest]
  const bare = sides.find(({ configured }) => !configured)
  if (bare || !message) return bare
  const [named, another] = sides.filter(({ connectorName }) =>
    message.includes(connectorName.split(' ')[0] ?? connectorName),
  )
  if (named && !another) return named
  const values = await Promise.all(sides.map(({ connectorId: id }) => valuesOf(accountId, id)))
  const [placed, other] = sides.filter((_, i) => values[i]?.some((value) => message.includes(value)))
  return other ? undefined : placed
}

/** What a connector is configured with that an error may name, such as a host; secrets are not among it. */
async function valuesOf(accountId: string, id: string): Promise<string[]> {
  const { reply } = await readOnce('getConnectorConfiguration', { accountId, id })
  return reply.secretConfig
    .flatMap(({ configuration }) => configuration)
    .filter(({ type, value }) => type === 'Text' && value.length >= valueLengthMin)
    .map(({ value }) => value)
}
