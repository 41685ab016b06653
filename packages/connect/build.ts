import { execFileSync } from 'node:child_process'
import { cp, readFile, rm, writeFile } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import { build } from 'vite'

/**
 * `npm run build -w packages/connect [-- directory]`: builds the package that is published, into `dist/` unless said otherwise. It
 * depends on nothing.
 */
const here = import.meta.dirname
const dist = resolve(process.argv[2] ?? join(here, 'dist'))
await rm(dist, { recursive: true, force: true })
await build({ root: here, logLevel: 'warn', build: { outDir: dist } })
execFileSync(
  process.execPath,
  [
    join(here, '../../node_modules/typescript/bin/tsc'),
    '--ignoreConfig',
    '--declaration',
    '--emitDeclarationOnly',
    '--target',
    'es2022',
    '--lib',
    'es2022,dom',
    '--types',
    '',
    '--module',
    'esnext',
    '--moduleResolution',
    'bundler',
    '--outDir',
    dist,
    join(here, 'src/index.ts'),
  ],
  { stdio: 'inherit' },
)
const { name, version, description, license } = JSON.parse(await readFile(join(here, 'package.json'), 'utf8'))
const published = {
  name,
  version,
  description,
  license,
  type: 'module',
  sideEffects: false,
  exports: {
    '.': { types: './index.d.ts', default: './connect.js' },
    './global': { types: './connect.global.d.ts', default: './connect.global.js' },
  },
  types: './index.d.ts',
}
await writeFile(
  join(dist, 'connect.global.d.ts'),
  `declare global {\n  var PenstockConnect: typeof import('./index.js')\n}\nexport {}\n`,
)
await writeFile(join(dist, 'package.json'), `${JSON.stringify(published, null, 2)}\n`)
await cp(join(here, 'README.md'), join(dist, 'README.md'))
await cp(join(here, '../../LICENSE'), join(dist, 'LICENSE'))
