import { execFileSync } from 'node:child_process'
import { cp, mkdir, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { dirname, join, relative, resolve } from 'node:path'
import * as wire from '@penstock/wire'
import { rolldown } from 'rolldown'
import { fieldErrorType, resourceType } from '../client/contract.ts'

/**
 * `npm run build -w packages/connector [-- directory]`: builds the package that is published, into `dist/` unless said otherwise: a
 * module for each export, and its declarations in `types/`. It contains what it uses of our other packages.
 */
const here = import.meta.dirname
const packages = join(here, '..')
const dist = resolve(process.argv[2] ?? join(here, 'dist'))
const manifest = JSON.parse(await readFile(join(here, 'package.json'), 'utf8'))
const parquet = JSON.parse(await readFile(join(packages, 'parquet/package.json'), 'utf8'))
const entries: [path: string, source: string][] = Object.entries(manifest.exports)
const nameOf = (path: string) => (path === '.' ? 'index' : path.slice(2).replaceAll('/', '-'))

/** It has 144 MB, and few projects read its files: they install it themselves. `apache-arrow` comes with it. */
const duckdb = '@duckdb/duckdb-wasm'
const optional = [duckdb, 'apache-arrow']
/** Packages of others, in the versions that our packages use. */
const used: Record<string, string> = Object.fromEntries(
  Object.entries<string>({ ...parquet.dependencies, ...manifest.dependencies }).filter(
    ([name]) => !name.startsWith('@penstock/'),
  ),
)

await rm(dist, { recursive: true, force: true })
await mkdir(join(dist, 'types'), { recursive: true })
const bundled = await rolldown({
  input: Object.fromEntries(entries.map(([path, source]) => [nameOf(path), join(here, source)])),
  cwd: here,
  platform: 'node',
  external: (id) => Object.keys(used).some((name) => id === name || id.startsWith(`${name}/`)),
  transform: { target: 'node20' },
})
await bundled.write({
  dir: dist,
  format: 'es',
  entryFileNames: '[name].js',
  chunkFileNames: 'parts/[name]-[hash].js',
})
await bundled.close()

// Declarations of this package and of what it uses, in the folders of the repository, with the paths between them.
const contract = join(dist, 'types/contract.d.ts')
await writeFile(contract, `${resourceType(wire, 'Field')}${fieldErrorType}`)
const sources: Readonly<Record<string, string>> = {
  '@penstock/wire/rules': 'wire/src/rules',
  ...Object.fromEntries(
    Object.entries<string>(parquet.exports).map(([path, source]) => [
      join('@penstock/parquet', path),
      join('parquet', source.replace('.ts', '')),
    ]),
  ),
}
const config = join(dist, 'tsconfig.json')
const paths = Object.entries(sources).map(([name, source]) => [name, [join(packages, `${source}.ts`)]])
await writeFile(
  config,
  JSON.stringify({
    extends: join(here, '../../tsconfig.json'),
    compilerOptions: {
      noEmit: false,
      declaration: true,
      emitDeclarationOnly: true,
      isolatedModules: false,
      rootDir: packages,
      outDir: join(dist, 'types'),
      typeRoots: [join(here, '../../node_modules/@types')],
      paths: { '@penstock/wire': [contract], ...Object.fromEntries(paths) },
    },
    include: entries.map(([, source]) => join(here, source)),
    exclude: [],
  }),
)
const tsc = join(here, '../../node_modules/typescript/bin/tsc')
execFileSync(process.execPath, [tsc, '-p', config], { stdio: 'inherit' })
await rm(config)
const types = join(dist, 'types')
const placeOf = (name: string) => (name === '@penstock/wire' ? 'contract' : sources[name])
for (const file of await readdir(types, { recursive: true })) {
  if (!file.endsWith('.d.ts')) continue
  const path = join(types, file)
  const text = (await readFile(path, 'utf8'))
    .replaceAll(/'(@penstock\/[\w/-]+)'/g, (quoted, name) => {
      const place = placeOf(name)
      if (place === undefined) throw new Error(`${file} has the types of ${name}, which the build does not include.`)
      const between = relative(dirname(path), join(types, place)).replaceAll('\\', '/')
      return quoted.replace(name, `${between.startsWith('.') ? between : `./${between}`}.js`)
    })
    .replaceAll(/(['"]\.{1,2}\/[\w./-]+)\.ts(['"])/g, '$1.js$2')
  await writeFile(path, text)
}

const { name, version, description, license } = manifest
const published = {
  name,
  version,
  description,
  license,
  type: 'module',
  sideEffects: false,
  engines: { node: '>=20.16' },
  exports: Object.fromEntries(
    entries.map(([path, source]) => [
      path,
      { types: `./types/connector/${source.slice(2).replace('.ts', '.d.ts')}`, default: `./${nameOf(path)}.js` },
    ]),
  ),
  types: './types/connector/src/index.d.ts',
  dependencies: Object.fromEntries(Object.entries(used).filter(([name]) => !optional.includes(name))),
  peerDependencies: { [duckdb]: used[duckdb] },
  peerDependenciesMeta: { [duckdb]: { optional: true } },
}
await writeFile(join(dist, 'package.json'), `${JSON.stringify(published, null, 2)}\n`)
for (const [from, to] of [
  ['README.md', 'README.md'],
  ['../../LICENSE', 'LICENSE'],
] as const)
  await cp(join(here, from), join(dist, to))
