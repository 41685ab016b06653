import { execFileSync } from 'node:child_process'
import { cp, mkdir, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import * as wire from '@penstock/wire'
import { contractModule, contractTypes } from './contract.ts'

/**
 * `npm run build -w packages/client [-- directory]`: builds the package that is published, into `dist/` unless said otherwise: the modules of `src/` as JavaScript with their declarations, and in place of
 * `@penstock/wire` a module of the contract, with the calls and the types and without the schemas. It depends on nothing.
 */
const here = import.meta.dirname
const dist = resolve(process.argv[2] ?? join(here, 'dist'))
await rm(dist, { recursive: true, force: true })
await mkdir(dist, { recursive: true })
await writeFile(join(dist, 'contract.js'), contractModule(wire))
await writeFile(join(dist, 'contract.d.ts'), contractTypes(wire))
const config = join(dist, 'tsconfig.json')
const overrides = { outDir: dist, paths: { '@penstock/wire': [join(dist, 'contract.d.ts')] } }
await writeFile(
  config,
  JSON.stringify({
    extends: join(here, 'tsconfig.build.json'),
    compilerOptions: overrides,
    include: [join(here, 'src')],
  }),
)
execFileSync(process.execPath, [join(here, '../../node_modules/typescript/bin/tsc'), '-p', config], {
  stdio: 'inherit',
})
await rm(config)
for (const file of await readdir(dist)) {
  const path = join(dist, file)
  const text = await readFile(path, 'utf8')
  await writeFile(
    path,
    text.replaceAll(`'@penstock/wire'`, `'./contract.js'`).replaceAll(/'(\.\/[a-z-]+)\.ts'/g, `'$1.js'`),
  )
}
const { version, description, license } = JSON.parse(await readFile(join(here, 'package.json'), 'utf8'))
const published = {
  name: '@penstock/client',
  version,
  description,
  license,
  type: 'module',
  sideEffects: false,
  engines: { node: '>=20.3' },
  exports: { '.': { types: './index.d.ts', default: './index.js' } },
  types: './index.d.ts',
}
await writeFile(join(dist, 'package.json'), `${JSON.stringify(published, null, 2)}\n`)
for (const [from, to] of [
  ['README.md', 'README.md'],
  ['../../LICENSE', 'LICENSE'],
] as const)
  await cp(join(here, from), join(dist, to))
