import { stat } from 'node:fs/promises'
import { type Config, settingNames } from '../config.ts'
import type { Logger } from '../log.ts'
import { findRunnerUser } from '../runners/runner-user.ts'

/** Settings that are valid but probably a mistake. */

const prefix = 'PENSTOCK_'

/** Variables that Kubernetes sets in every container for a Service with the name penstock. */
const ofKubernetes = /^PENSTOCK_(?:SERVICE_(?:HOST|PORT\w*)|PORT_\d+_(?:TCP|UDP)\w*)$/

/** Maximum number of letters by which a mistyped name can differ from the suggested name. */
const suggestedDistanceMax = 3

/**
 * @returns a sentence for each: `PENSTOCK_` names that are no settings, with the most similar setting, local folders
 *   that are not there, and runners with the rights of root
 */
export async function findWarnings(env: NodeJS.ProcessEnv, config: Config): Promise<string[]> {
  const known = settingNames()
  const unknown = Object.keys(env)
    .filter((name) => name.toUpperCase().startsWith(prefix) && !known.includes(name) && !ofKubernetes.test(name))
    .sort()
  const folders = await Promise.all(config.localFolders.map(errorOfFolder))
  return [
    ...unknown.map((name) => {
      const similar = mostSimilar(name.toUpperCase(), known)
      const instead = similar === undefined ? 'docs/operating.md lists all settings' : `did you mean ${similar}?`
      return `${name} is not a setting and is ignored: ${instead}`
    }),
    ...[...folders, findRunnerUser(config).warning].filter((warning) => warning !== undefined),
  ]
}

/** Writes each warning into the log. */
export async function logWarnings(env: NodeJS.ProcessEnv, config: Config, log: Logger): Promise<void> {
  for (const warning of await findWarnings(env, config)) log.warn(warning)
}

async function errorOfFolder(folder: string): Promise<string | undefined> {
  const what = await stat(folder).then(
    (found) => (found.isDirectory() ? undefined : 'is not a directory'),
    ({ code }: NodeJS.ErrnoException) => (code === 'ENOENT' ? 'does not exist' : `cannot be read (${code})`),
  )
  return what && `The folder ${folder} of PENSTOCK_LOCAL_FOLDERS ${what}: create it, or remove it from the setting.`
}

function mostSimilar(name: string, known: readonly string[]): string | undefined {
  const [best] = known
    .map((candidate) => ({ candidate, distance: distanceOf(name, candidate) }))
    .sort((a, b) => a.distance - b.distance)
  return best && best.distance <= suggestedDistanceMax ? best.candidate : undefined
}

/** The Levenshtein distance: how many letters must be inserted, removed or replaced to make one text of the other. */
function distanceOf(a: string, b: string): number {
  let row = Array.from({ length: b.length + 1 }, (_, i) => i)
  for (const [i, letter] of [...a].entries()) {
    const next = [i + 1]
    for (const [j, other] of [...b].entries()) {
      const replaced = (row[j] ?? 0) + (letter === other ? 0 : 1)
      next.push(Math.min(replaced, (row[j + 1] ?? 0) + 1, (next[j] ?? 0) + 1))
    }
    row = next
  }
  return row[b.length] ?? 0
}
