/** The longest names that are compared: the work is the product of both lengths. */
const comparedMax = 100
/** Pairs of characters that are compared in one search; further names are skipped. */
const pairsMax = 500_000

/** A sentence that suggests the most similar known name, to append to a message. Empty if no name is similar. */
export function didYouMean(name: string, known: readonly string[]): string {
  const [nearest] = nearestNames(name, known)
  return nearest === undefined ? '' : ` Did you mean ${nearest}?`
}

/**
 * The known names that are most similar to a name, all equally similar, in the order of their characters.
 * @param known compared by the number of characters to insert, remove, replace or swap, without case and separators: at most a
 *   third of the name
 */
export function nearestNames(name: string, known: readonly string[]): string[] {
  const plain = plainOf(name)
  if (plain.length > comparedMax) return []
  const most = Math.floor(Math.max(plain.length, 3) / 3)
  let pairs = 0
  const similar = known
    .filter((one) => one !== name && one.length <= comparedMax)
    .map((one) => ({ one, plain: plainOf(one) }))
    .filter(({ plain: other }) => Math.abs(other.length - plain.length) <= most)
    .filter(({ plain: other }) => {
      pairs += other.length * plain.length
      return pairs <= pairsMax
    })
    .map(({ one, plain: other }) => ({ one, distance: distance(plain, other) }))
    .filter(({ distance }) => distance <= most)
    .sort((a, b) => a.distance - b.distance || (a.one < b.one ? -1 : 1))
  return similar.filter((one) => one.distance === similar[0]?.distance).map(({ one }) => one)
}

const plainOf = (name: string) => name.toLowerCase().replaceAll(/[\s_-]/g, '')

/** Insertions, removals, replacements and swaps of neighbours that turn one text into another (optimal string alignment). */
function distance(from: string, to: string): number {
  let before: number[] = []
  let last = Array.from({ length: to.length + 1 }, (_, index) => index)
  for (let row = 1; row <= from.length; row++) {
    const now = [row]
    for (let column = 1; column <= to.length; column++) {
      const cost = from[row - 1] === to[column - 1] ? 0 : 1
      let best = Math.min((last[column] ?? 0) + 1, (now[column - 1] ?? 0) + 1, (last[column - 1] ?? 0) + cost)
      const isSwap = row > 1 && column > 1 && from[row - 1] === to[column - 2] && from[row - 2] === to[column - 1]
      if (isSwap) best = Math.min(best, (before[column - 2] ?? 0) + 1)
      now.push(best)
    }
    before = last
    last = now
  }
  return last[to.length] ?? 0
}
