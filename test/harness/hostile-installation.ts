import { cp, mkdir, readFile, symlink, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import type * as RunnerPool from '../../packages/server/src/runners/runner-pool.ts'

const root = dirname(dirname(import.meta.dirname))
const ownPackages = ['wire', 'parquet', 'expressions', 'connector', 'connectors', 'engine', 'server']
/** Large packages that no runner loads. */
const leftOut = new Set(['simple-icons'])

/**
 * Copies what runners run to another directory, and adds a connector with the slug `hostile`: the checks of that connector run
 * the code that is given, as the code of a driver would that was taken over.
 * @param code the body of an asynchronous function that returns a record of texts
 * @returns the module of the pool, of that copy
 */
export async function installHostile(directory: string, code: string): Promise<typeof RunnerPool> {
  const modules = join(directory, 'node_modules')
  for (const name of ownPackages) {
    const [from, to] = [join(root, 'packages', name), join(directory, 'packages', name)]
    await cp(join(from, 'src'), join(to, 'src'), { recursive: true, filter: (file) => !/\.test\.ts$/.test(file) })
    await cp(join(from, 'package.json'), join(to, 'package.json'))
  }
  // Node strips the types of no package in node_modules itself.
  await mkdir(join(modules, '@penstock'), { recursive: true })
  for (const name of ownPackages) await symlink(join(directory, 'packages', name), join(modules, '@penstock', name))
  const wanted = new Set<string>()
  for (const name of ownPackages.filter((each) => each !== 'server')) {
    await addDependencies(join(root, 'packages', name), wanted)
  }
  for (const name of wanted) {
    await cp(join(root, 'node_modules', name), join(modules, name), { recursive: true })
  }
  const folder = join(directory, 'packages/connectors/src/hostile')
  await mkdir(folder)
  await writeFile(
    join(folder, 'hostile.ts'),
    `import { webhook } from '../webhook/webhook.ts'
     const attack = async (context: any): Promise<Record<string, string>> => { ${code} }
     const check = async (context: any) =>
       Object.entries(await attack(context)).map(([name, message]) => ({ name, ok: true, message }))
     export const hostile = { ...webhook, slug: 'hostile', check }`,
  )
  return import(join(directory, 'packages/server/src/runners/runner-pool.ts'))
}

async function addDependencies(directory: string, wanted: Set<string>): Promise<void> {
  const { dependencies = {} } = JSON.parse(await readFile(join(directory, 'package.json'), 'utf8'))
  for (const name of Object.keys(dependencies)) {
    if (name.startsWith('@penstock/') || leftOut.has(name) || wanted.has(name)) continue
    wanted.add(name)
    await addDependencies(join(root, 'node_modules', name), wanted)
  }
}
