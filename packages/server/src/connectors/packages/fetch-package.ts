import { spawn } from 'node:child_process'
import { existsSync, statSync } from 'node:fs'
import { cp, mkdir, readFile, writeFile } from 'node:fs/promises'
import { basename, join, resolve, sep } from 'node:path'
import { PackageRefused } from './probe.ts'

/** How long npm can take, in milliseconds, and how much of its output is repeated, in characters. */
const npmMs = 300_000
const quotedLength = 1_000

/**
 * Copies a package and its dependencies into a folder, without running any of its code. A directory is copied with its
 * `node_modules`. A tarball and a package of a registry are installed by npm, which must be available, without running scripts
 * of any package.
 * @param from a directory, a tarball or a package as npm names it, such as `acme-connector@1.2.0`
 * @param code the folder, which must be empty
 * @returns the folder of the package, below `code`, with `/` between its parts
 * @throws PackageRefused if there is no such package
 */
export async function fetchPackage(from: string, code: string): Promise<string> {
  const path = resolve(from)
  const found = existsSync(path) ? statSync(path) : undefined
  if (found?.isDirectory()) return copyDirectory(path, code)
  if (!found && (/^[.~]?[/\\]|^[a-z]:/i.test(from) || /\.t(?:ar\.)?gz$/i.test(from)))
    throw new PackageRefused(`The file or directory ${from} does not exist.`)
  await mkdir(code, { recursive: true })
  await writeFile(join(code, 'package.json'), '{ "private": true }\n')
  await npm(['install', '--', found ? path : from], code)
  const { dependencies = {} } = JSON.parse(await readFile(join(code, 'package.json'), 'utf8'))
  const [name] = Object.keys(dependencies)
  if (name === undefined) throw new PackageRefused(`npm installed no package from ${from}.`)
  return `node_modules/${name}`
}

/** Skipped: the kit, because the service provides it, and files of version control, because they are not code. */
const isLeftOut = (root: string, path: string) =>
  path !== root && (/^\.(?:git|hg|svn)$/.test(basename(path)) || path.endsWith(`node_modules${sep}@penstock`))

async function copyDirectory(path: string, code: string): Promise<string> {
  if (!existsSync(join(path, 'package.json')))
    throw new PackageRefused(
      `${path} is not a package: it has no package.json. Create a package with: penstock connector new my-connector`,
    )
  await cp(path, join(code, 'package'), {
    recursive: true,
    dereference: true,
    filter: (source) => !isLeftOut(path, source),
  })
  return 'package'
}

/** Without the settings of the service, and so without its keys and passwords. */
const environmentOfNpm = (): NodeJS.ProcessEnv =>
  Object.fromEntries(Object.entries(process.env).filter(([name]) => !/^(?:PENSTOCK_|DATABASE_URL)/.test(name)))

/** Runs npm without scripts of packages, without what only development needs, and without what the host has: the kit. */
async function npm([command = '', ...args]: readonly string[], cwd: string): Promise<void> {
  const own = process.env.npm_execpath
  const [program, first] = own?.endsWith('.js') ? [process.execPath, [own]] : ['npm', []]
  const flags = [
    '--ignore-scripts',
    '--omit=dev',
    '--legacy-peer-deps',
    '--no-audit',
    '--no-fund',
    '--no-package-lock',
    '--loglevel=error',
  ]
  const child = spawn(program, [...first, command, ...flags, ...args], {
    cwd,
    env: environmentOfNpm(),
    stdio: ['ignore', 'ignore', 'pipe'],
    timeout: npmMs,
  })
  let said = ''
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    said = (said + text).slice(-quotedLength)
  })
  const failure = await new Promise<string | undefined>((done) => {
    child.on('error', ({ code }: NodeJS.ErrnoException) =>
      done(code === 'ENOENT' ? 'npm is not installed' : `npm cannot run (${code})`),
    )
    child.on('close', (status) => done(status === 0 ? undefined : `npm failed:\n${said.trim()}`))
  })
  if (failure === undefined) return
  throw new PackageRefused(
    `The package cannot be installed: ${failure}\nWithout npm, unpack the package, install its dependencies in the same directory, and add the directory.`,
  )
}
