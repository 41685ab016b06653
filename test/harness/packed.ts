import { execFile } from 'node:child_process'
import { chmod, mkdtemp, readdir, realpath, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { promisify } from 'node:util'

const root = dirname(dirname(import.meta.dirname))
const run = promisify(execFile)

/**
 * Builds packages of this repository, packs them as for a registry, and installs the archives into an empty project, which has
 * nothing of the repository.
 *
 * @param names folders below `packages` that have a `build.ts`
 * @returns the folder of the project, and the archives, by the folder
 */
export async function installPacked(
  names: readonly string[],
): Promise<{ project: string; archives: Map<string, string> }> {
  const project = await realpath(await mkdtemp(join(tmpdir(), 'penstock-packed-')))
  // The user of runners must be able to pass through.
  await chmod(project, 0o711)
  const archives = new Map<string, string>()
  const files: string[] = []
  for (const name of names) {
    const built = join(project, 'built')
    await run(process.execPath, [join(root, 'packages', name, 'build.ts'), built], { cwd: root })
    const { stdout } = await run('npm', ['pack', '--json', '--pack-destination', project], { cwd: built })
    const [{ filename }] = JSON.parse(stdout)
    archives.set(name, join(project, filename))
    files.push(`./${filename}`)
    await rm(built, { recursive: true })
  }
  await writeFile(join(project, 'package.json'), '{"private": true, "type": "module"}')
  await run('npm', ['install', '--prefer-offline', '--no-audit', '--no-fund', ...files], { cwd: project })
  return { project, archives }
}

/** The files below a folder, as absolute paths. */
export async function filesBelow(folder: string): Promise<string[]> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true })
  return entries.filter((entry) => entry.isFile()).map((entry) => join(entry.parentPath, entry.name))
}
