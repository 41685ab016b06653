import type { Connection, Transfer } from '@penstock/wire'

export type SideSummary = Connection['src']

/** The side of a connection that needs attention: the one that is not configured, or the one that the error happened at. */
export function blamedSide(
  { src, dest }: Pick<Connection, 'src' | 'dest'>,
  error: Transfer['error'] | undefined,
): SideSummary | undefined {
  const bare = [src, dest].find(({ configured }) => !configured)
  if (bare) return bare
  if (error?.side === 'source') return src
  return error?.side === 'destination' ? dest : undefined
}
