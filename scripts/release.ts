/**
 * `npm run release -- directory` builds the files of a release, into a directory that must not exist yet: the source, the
 * packages of npm, the OpenAPI document, the notices of third parties, the SBOM, the section of the changelog and `SHA256SUMS`.
 * It fails if something differs from the commit, or if the changelog has no section for the version.
 */
import { execFileSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { copyFileSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'

const root = join(import.meta.dirname, '..')
const run = (command: string, ...args: string[]): string =>
  execFileSync(command, args, { cwd: root, encoding: 'utf8', stdio: ['ignore', 'pipe', 'inherit'] })

/** The text of a version in the changelog, without its heading. */
function changesOf(changelog: string, version: string): string | undefined {
  const sections = changelog.split(/^## /m)
  return sections
    .find((section) => section.startsWith(`[${version}]`))
    ?.replace(/^.*\n/, '')
    .trim()
}

function release(directory: string): void {
  const { version } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'))
  const changes = changesOf(readFileSync(join(root, 'CHANGELOG.md'), 'utf8'), version)
  if (!changes) throw new Error(`CHANGELOG.md has no section ## [${version}].`)
  if (run('git', 'status', '--porcelain') !== '')
    throw new Error('Commit your changes: a release is built from a commit.')

  mkdirSync(directory)
  const name = `penstock-${version}`
  run('git', 'archive', `--prefix=${name}/`, '-o', join(directory, `${name}.tar.gz`), 'HEAD')
  run('npm', 'run', 'build')
  for (const packed of ['server', 'client', 'connect', 'connector']) {
    const built = mkdtempSync(join(tmpdir(), 'penstock-release-'))
    run('npm', 'run', 'build', '-w', `packages/${packed}`, '--', built)
    run('npm', 'pack', built, '--pack-destination', directory)
    rmSync(built, { recursive: true })
  }
  copyFileSync(join(root, 'docs/openapi.json'), join(directory, 'openapi.json'))
  run('npm', 'run', 'notices')
  copyFileSync(join(root, 'THIRD_PARTY_NOTICES.md'), join(directory, 'THIRD_PARTY_NOTICES.md'))
  run('npm', 'run', 'sbom')
  copyFileSync(join(root, 'sbom.cdx.json'), join(directory, 'sbom.cdx.json'))
  writeFileSync(join(directory, 'CHANGES.md'), `${changes}\n`)
  const sums = readdirSync(directory).map((file) => {
    const digest = createHash('sha256')
      .update(readFileSync(join(directory, file)))
      .digest('hex')
    return `${digest}  ${file}\n`
  })
  writeFileSync(join(directory, 'SHA256SUMS'), sums.join(''))
}

const [directory] = process.argv.slice(2)
if (!directory) {
  console.error('Name the directory to make: npm run release -- release')
  process.exit(2)
}
try {
  release(resolve(directory))
  console.log(`Built the release in ${directory}: ${readdirSync(directory).join(', ')}`)
} catch (error) {
  console.error(error instanceof Error ? error.message : error)
  process.exit(1)
}
