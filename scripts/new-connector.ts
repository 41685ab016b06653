/**
 * `npm run new:connector -- <kind> <platform> <slug> <Name>` writes the skeleton of a connector with its tests. It copies the
 * model of the kind under another name, and adds its lines in the catalogue and, for a new platform, its `platform.ts`. The
 * skeleton passes its tests. Replace its facts with the facts of the platform.
 */
import { existsSync, globSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { basename, dirname, join, relative } from 'node:path'

const root = dirname(import.meta.dirname)
const connectors = join(root, 'packages/connectors')

/** The model of a kind, from which its connectors are copied. */
type Model = {
  /** The files, relative to `packages/connectors`. Servers go to `test`, and all others to the folder of the platform. */
  readonly files: string
  /** Files with facts that are true only of the model. */
  readonly without?: RegExp
  /** The name of the model in files and addresses, in code, in the names of types, and in texts. */
  readonly called: { readonly slug: string; readonly code: string; readonly type: string; readonly name: string }
  /** The last words of the slugs of its connectors, if it has two. */
  readonly roles?: readonly string[]
}

const example = {
  slug: 'example-connector',
  code: 'exampleConnector',
  type: 'ExampleConnector',
  name: 'Example Connector',
}
const skeleton = (kind: string): Model => ({ files: `test/skeletons/${kind}/*.ts`, called: example })
const models: Readonly<Record<string, Model>> = {
  event: skeleton('event'),
  audience: skeleton('audience'),
  report: skeleton('report'),
  entities: skeleton('entities'),
  files: {
    files: '{src/dropbox/*.ts,test/dropbox-server.ts}',
    called: { slug: 'dropbox', code: 'dropbox', type: 'Dropbox', name: 'Dropbox' },
  },
  warehouse: {
    files: '{src/clickhouse/*.ts,test/clickhouse-server.ts,test/clickhouse-real.ts}',
    without: /official-client/,
    called: { slug: 'clickhouse', code: 'clickhouse', type: 'ClickHouse', name: 'ClickHouse' },
    roles: ['source', 'destination'],
  },
}

const [kind = '', platform = '', slug = '', ...names] = process.argv.slice(2)
const name = names.join(' ')
process.exitCode = main()

function main(): number {
  const model = Object.hasOwn(models, kind) ? models[kind] : undefined
  if (!model || name === '' || !isSlug(platform) || !isSlug(slug)) {
    console.error(
      `Usage: npm run new:connector -- <${Object.keys(models).join('|')}> <folder of a platform> <slug> <Name>`,
    )
    console.error('The folder is one of packages/connectors/src, or a new one.')
    return 1
  }
  const folder = join(connectors, 'src', platform)
  const platformFile = join(folder, 'platform.ts')
  const isSkeleton = model.called === example
  if (!isSkeleton && existsSync(folder)) {
    console.error(`${folder} exists. A connector of this kind needs a new folder.`)
    return 1
  }
  const found = globSync(model.files, { cwd: connectors }).filter((file) => !model.without?.test(basename(file)))
  const files = new Map(
    found.sort().map((file) => {
      const path = join(isServerOf(file) ? join(connectors, 'test') : folder, renamed(basename(file), model))
      return [path, copyOf(join(connectors, file), path, model)]
    }),
  )
  if (isSkeleton && !existsSync(platformFile)) files.set(platformFile, platformDefinition())
  const taken = [...files.keys()].find((file) => existsSync(file))
  if (taken !== undefined) {
    console.error(`${taken} exists. Choose another slug.`)
    return 1
  }
  mkdirSync(folder, { recursive: true })
  for (const [file, text] of files) {
    writeFileSync(file, text)
    console.log(file)
  }
  for (const role of model.roles ?? [undefined]) {
    change(join(connectors, 'src/index.ts'), (text) => inCatalogue(text, role === undefined ? slug : `${slug}-${role}`))
  }
  if (kind === 'event') {
    change(join(root, 'test/echoes/events.ts'), (text) => text.replace(/: readonly Side\[\] = \[\n/, `$&${echo()}`))
  }
  console.log(
    `Next: npx biome check --write packages test/echoes, npm test -- ${slug}, and the steps in packages/connectors/README.md.`,
  )
  return 0
}

function isSlug(text: string): boolean {
  return /^[a-z0-9]+(-[a-z0-9]+)*$/.test(text)
}

function camelCase(text: string): string {
  return text.replace(/-(\w)/g, (_, letter: string) => letter.toUpperCase())
}

function change(file: string, by: (text: string) => string): void {
  writeFileSync(file, by(readFileSync(file, 'utf8')))
  console.log(file)
}

/** A text with the names of the new connector. A name in code is part of an identifier, or an identifier itself. */
function renamed(text: string, { called }: Model): string {
  const code = camelCase(slug)
  const type = `${code[0]?.toUpperCase()}${code.slice(1)}`
  return text
    .replaceAll(new RegExp(`(?<=\\w)${called.type}|${called.type}(?=\\w)`, 'g'), type)
    .replaceAll(called.name, name)
    .replaceAll(
      new RegExp(`${called.slug}(?=-|api\\\\?\\.|\\.(?:ts|test|large|com|example)\\b|')|(?<=[-/])${called.slug}`, 'g'),
      slug,
    )
    .replaceAll(called.code, code)
}

/** Whether a file is the server that tests use, or the engine of that server. */
function isServerOf(file: string): boolean {
  return /-(?:server|real)\.ts$/.test(file)
}

/** The text of a file of the model at its new place. */
function copyOf(file: string, path: string, model: Model): string {
  const { slug: of } = model.called
  const text = readFileSync(file, 'utf8').replaceAll(/ from '(\.[^']+)'/g, (_, imported: string) => {
    const target = relative(connectors, join(dirname(file), imported))
    const isServer = isServerOf(target) && basename(target).startsWith(`${of}-`)
    // Files of the model are copied, too. Everything else stays in its place.
    const isCopied = isServer || /^test\/skeletons\//.test(target) || target.startsWith(`src/${of}/`)
    const place = join(connectors, isServer ? 'test' : `src/${platform}`, basename(target))
    const moved = relative(dirname(path), isCopied ? place : join(connectors, target))
    return ` from '${moved.startsWith('.') ? moved : `./${moved}`}'`
  })
  // The logo of the model stays.
  return renamed(text, model)
    .replaceAll('exampleAds', platformConstant())
    .replaceAll(/^ {2}icon: .*\n/gm, '')
}

/** The name of the constant of the platform. */
function platformConstant(): string {
  const file = join(connectors, 'src', platform, 'platform.ts')
  const text = existsSync(file) ? readFileSync(file, 'utf8') : platformDefinition()
  return /export const (\w+)/.exec(text)?.[1] ?? ''
}

/** The catalogue with the connector, before the next one by folder and slug. */
function inCatalogue(text: string, file: string): string {
  const constant = camelCase(file)
  const imports = [...text.matchAll(/^import \{ (\w+) \} from '\.\/([\w-]+\/[\w-]+)\.ts'$/gm)]
  const later = imports.filter(([, , path = '']) => path > `${platform}/${file}`)
  const [line, next] = later.sort(([, , a = ''], [, , b = '']) => (a < b ? -1 : 1))[0] ?? ['import { makeCatalogue }']
  return text
    .replace(line, `import { ${constant} } from './${platform}/${file}.ts'\n${line}`)
    .replace(next === undefined ? '\n])' : `\n  ${next},`, `\n  ${constant},$&`)
}

function platformDefinition(): string {
  const words = platform.split('-').map((word) => `${word[0]?.toUpperCase()}${word.slice(1)}`)
  return `import { definePlatform } from '@penstock/connector'

export const ${camelCase(platform)} = definePlatform({ slug: '${platform}', name: '${words.join(' ')}', type: 'Demand-Side Platform (DSP)' })
`
}

function echo(): string {
  return `  {
    slug: '${slug}',
    secrets: { accessToken: secret('${slug}') },
    settings: { dataSetId: '12345' },
    row: { event_name: 'Lead', event_time: Math.floor(Date.now() / 1000) - 60, email: canary },
  },
`
}
