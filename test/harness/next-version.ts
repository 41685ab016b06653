import { cp, mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'

const root = dirname(dirname(import.meta.dirname))
const cache = join(root, '.cache')
const server = 'packages/server'

/** The next version of Penstock, until a release exists that an upgrade can begin with. */
export type NextVersion = {
  /** The program `penstock`. */
  readonly program: string
  readonly remove: () => Promise<void>
}

/** Copies the service, with a greater version and one more migration. It uses the dependencies and the other packages of this checkout. */
export async function createNextVersion(): Promise<NextVersion> {
  await mkdir(cache, { recursive: true })
  const directory = await mkdtemp(join(cache, 'next-version-'))
  const copy = join(directory, server)
  for (const name of ['bin', 'src', 'migrations', 'package.json'])
    await cp(join(root, server, name), join(copy, name), { recursive: true })
  const about = JSON.parse(await readFile(join(copy, 'package.json'), 'utf8'))
  await writeFile(join(copy, 'package.json'), JSON.stringify({ ...about, version: '99.0.0' }))
  await writeFile(
    join(copy, 'migrations/9999_next_version.sql'),
    'create table of_next_version (id text primary key);\n',
  )
  return { program: join(copy, 'bin/penstock.js'), remove: () => rm(directory, { recursive: true }) }
}
