/** A version as npm writes it. Everything after its three numbers is ignored. */
const versionOf = (text: string): readonly number[] => (/^v?(\d+)\.(\d+)\.(\d+)/.exec(text) ?? []).slice(1).map(Number)

/**
 * Whether a package that needs a version of the kit runs with another version, as npm reads ranges: the first number must be
 * the same, and below 1.0.0 also the second. A range is one or more versions, separated by `||`, each after `^`, `~`, `>=` or
 * nothing, or `*`. Any other range does not match.
 * @param range such as `^0.1.0`
 * @param version of this kit, such as `0.1.2`
 */
export function fitsKit(range: string, version: string): boolean {
  return range.split('||').some((one) => fitsOne(one.trim(), version))
}

function fitsOne(range: string, version: string): boolean {
  if (range === '*' || range === 'x') return true
  const [, sign = '', text = ''] = /^(\^|~|>=|=)?\s*v?([\d.]+)(?:\.[x*])?(?:-[\w.]+)?$/.exec(range) ?? []
  const asked = text.split('.').map(Number)
  if (text === '' || asked.length > 3 || asked.some((part) => !Number.isSafeInteger(part))) return false
  const own = versionOf(version)
  const order = orderOf(own, asked)
  if (sign === '>=') return order >= 0
  const fixed = sign === '~' ? Math.min(2, asked.length) : sign === '^' ? (asked[0] === 0 ? 2 : 1) : asked.length
  return order >= 0 && asked.slice(0, fixed).every((part, at) => part === own[at])
}

/** Above 0 if the first version is newer. Missing numbers are 0. */
function orderOf(a: readonly number[], b: readonly number[]): number {
  const at = [0, 1, 2].find((one) => (a[one] ?? 0) !== (b[one] ?? 0))
  return at === undefined ? 0 : (a[at] ?? 0) - (b[at] ?? 0)
}
