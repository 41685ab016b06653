import { readdir, readFile, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { ConfigurationError, type Problem } from './problems.ts'

/** One file as it was read. */
export type SourceFile = { readonly path: string; readonly text: string }

/** How much is read. */
const filesMax = 10_000
const fileBytesMax = 16 * 1024 * 1024
const allBytesMax = 64 * 1024 * 1024

/**
 * Reads the named files, and the files `*.yaml` and `*.yml` of the named directories, by name.
 * @throws ConfigurationError if a file cannot be read, or there are too many
 */
export async function readFiles(paths: readonly string[]): Promise<SourceFile[]> {
  const problems: Problem[] = []
  const found: string[] = []
  for (const path of paths) {
    const inside = await list(path).catch((error: NodeJS.ErrnoException) => {
      problems.push({ message: `${path} cannot be read (${error.code}): check the path.` })
      return []
    })
    found.push(...inside)
  }
  if (found.length > filesMax) problems.push({ message: `There are more than ${filesMax} files. Pass fewer files.` })
  const files: SourceFile[] = []
  let bytes = 0
  for (const path of [...new Set(found)].slice(0, filesMax)) {
    try {
      const about = await stat(path)
      bytes += about.size
      if (!about.isFile()) problems.push({ message: `${path} is not a file.` })
      else if (about.size > fileBytesMax)
        problems.push({
          message: `${path} has more than ${fileBytesMax / 1024 / 1024} MiB: split it into several files.`,
        })
      else if (bytes <= allBytesMax)
        files.push({ path, text: new TextDecoder('utf-8', { fatal: true }).decode(await readFile(path)) })
    } catch (error) {
      const { code } = error as NodeJS.ErrnoException
      const why = code === 'ERR_ENCODING_INVALID_ENCODED_DATA' ? 'is not UTF-8' : `cannot be read (${code})`
      problems.push({ message: `${path} ${why}.` })
    }
  }
  if (bytes > allBytesMax)
    problems.push({ message: `The files have more than ${allBytesMax / 1024 / 1024} MiB together.` })
  if (problems.length > 0) throw new ConfigurationError(problems)
  if (files.length === 0)
    throw new ConfigurationError([{ message: `There are no .yaml files in ${paths.join(', ')}.` }])
  return files
}

async function list(path: string): Promise<string[]> {
  if (!(await stat(path)).isDirectory()) return [path]
  const names = await readdir(path)
  return names
    .filter((name) => /\.ya?ml$/.test(name) && !name.startsWith('.'))
    .sort()
    .map((name) => join(path, name))
}
