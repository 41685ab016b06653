import { readFile } from 'node:fs/promises'
import { ConfigError } from '../config.ts'

/** Inputs of commands: files, and options of the form `name=value`. */

/**
 * The text of a file.
 * @param what the file in the message for a larger one, such as `manifest`
 * @throws ConfigError if the file cannot be read or is larger
 */
export async function readInput(file: string, what: string, bytesMax = 4 << 20): Promise<string> {
  const bytes = await readFile(file).catch(({ code }) => {
    throw new ConfigError([`${file} cannot be read (${code}): check the path.`])
  })
  if (bytes.length <= bytesMax) return bytes.toString('utf8')
  throw new ConfigError([`${file} has more than ${bytesMax / 1024} KiB, which no ${what} has.`])
}

/**
 * The values of an option that is repeated, by their names.
 * @param option such as `--value`
 * @throws ConfigError if an entry is not `name=value`; the message does not contain the entry, which may be a secret
 */
export function namedValues(option: string, given: readonly string[] = []): Record<string, string> {
  return Object.fromEntries(
    given.map((one, index): [string, string] => {
      const at = one.indexOf('=')
      if (at < 1) throw new ConfigError([`${option}, entry ${index + 1}: write ${option} name=value.`])
      return [one.slice(0, at), one.slice(at + 1)]
    }),
  )
}

/**
 * Secrets, each of which an option names as `env:NAME` or `file:path`: other processes can read arguments.
 * @throws ConfigError if a secret is not such a reference, or cannot be read
 */
export async function namedSecrets(option: string, given?: readonly string[]): Promise<Record<string, string>> {
  const secrets: Record<string, string> = {}
  for (const [name, reference] of Object.entries(namedValues(option, given))) {
    const [, kind, place = ''] = /^(env|file):(.+)$/s.exec(reference) ?? []
    if (kind === undefined) {
      throw new ConfigError([
        `${option} ${name}: write ${name}=env:NAME or ${name}=file:path. Other processes can read arguments.`,
      ])
    }
    const value = kind === 'file' ? (await readInput(place, 'secret')).replace(/\r?\n$/, '') : process.env[place]
    if (!value) throw new ConfigError([`${option} ${name}: ${place} ${kind === 'env' ? 'is not set' : 'is empty'}.`])
    secrets[name] = value
  }
  return secrets
}
