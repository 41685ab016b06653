import { readFileSync } from 'node:fs'

export type Environment = Readonly<Record<string, string | undefined>>

/**
 * Reads settings by their names: the value that the environment has, or the content of the file that it names, trimmed;
 * undefined if it is empty. The errors of a file are added to the errors, once.
 * @param files by the name of a setting, the one that names its file
 */
export function readSettings(
  env: Environment,
  files: Readonly<Record<string, string>>,
  fieldErrors: string[],
): (name: string) => string | undefined {
  const known = new Map<string, string | undefined>()
  const read = (name: string): string | undefined => {
    const value = env[name]?.trim() || undefined
    const setting = files[name]
    const file = setting === undefined ? undefined : env[setting]?.trim()
    if (!file) return value
    if (value !== undefined) fieldErrors.push(`${name} and ${setting} are both set: leave one out.`)
    return value ?? readFile(name, `${setting} names ${file}`, file)
  }
  const readFile = (name: string, what: string, file: string): string | undefined => {
    try {
      const content = readFileSync(file, 'utf8').trim()
      if (content === '') fieldErrors.push(`${what}, which is empty: put the value of ${name} into it.`)
      return content || undefined
    } catch (error) {
      const { code } = error as NodeJS.ErrnoException
      fieldErrors.push(`${what}, which cannot be read (${code}): name a file that this user may read.`)
      return undefined
    }
  }
  return (name) => {
    if (!known.has(name)) known.set(name, read(name))
    return known.get(name)
  }
}
