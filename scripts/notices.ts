/**
 * `npm run notices` writes THIRD_PARTY_NOTICES.md: every package of an installation without development dependencies, with its
 * license and its license texts. A release includes the file, the repository does not. It reads the packages from
 * package-lock.json, and the texts from node_modules.
 */
import { readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'

const root = dirname(import.meta.dirname)

/** Licenses that only require that they are passed on, each by its SPDX identifier. */
export const permissiveLicenses: readonly string[] = [
  '0BSD',
  'Apache-2.0',
  'BlueOak-1.0.0',
  'BSD-2-Clause',
  'BSD-3-Clause',
  'CC0-1.0',
  'ISC',
  'MIT',
  'MIT-0',
  'Unlicense',
  // The licenses of Python, of libraries that were ported from it, and of a font.
  'PSF-2.0',
  'Python-2.0',
  'OFL-1.1',
]

/** Packages that name their license in a way that npm no longer reads. */
const namedOtherwise: Readonly<Record<string, string>> = {
  ssh2: 'MIT',
  'cpu-features': 'MIT',
  buildcheck: 'MIT',
  'json-bignum': 'MIT',
}

export type ProductionPackage = {
  readonly name: string
  readonly version: string
  /** An SPDX expression; empty if the package does not declare one. */
  readonly license: string
  /** The digest of its archive, as in a lock file; empty if it has none. */
  readonly integrity: string
  /** Where npm puts it, below the checkout. */
  readonly path: string
  /** Not on every machine: a build for one platform, or something that others can do without. */
  readonly optional: boolean
}

type LockEntry = {
  version?: string
  license?: string
  integrity?: string
  dev?: boolean
  link?: boolean
  optional?: boolean
}

/** Packages that `npm ci --omit=dev` installs, by name and version. */
export function productionPackages(): ProductionPackage[] {
  const lock: { packages: Record<string, LockEntry> } = JSON.parse(
    readFileSync(join(root, 'package-lock.json'), 'utf8'),
  )
  return Object.entries(lock.packages)
    .filter(([path, { dev, link }]) => path.includes('node_modules/') && !dev && !link)
    .map(([path, { version = '', license, integrity = '', optional = false }]) => {
      const name = path.slice(path.lastIndexOf('node_modules/') + 'node_modules/'.length)
      return { name, version, license: license ?? namedOtherwise[name] ?? '', integrity, path, optional }
    })
    .sort((a, b) => compare(a.name, b.name) || compare(a.version, b.version))
}

/** Whether a license, or an expression of several, lets the package be passed on with this program. */
export function isPermissive(expression: string): boolean {
  const plain = expression.replace(/^\((.*)\)$/, '$1')
  if (/[()]/.test(plain)) return false
  return plain.split(' OR ').some((choice) => choice.split(' AND ').every((one) => permissiveLicenses.includes(one)))
}

/** The whole document. Throws if a package is not installed. */
export function makeNotices(): string {
  const packages = productionPackages()
  const rows = packages.map(({ name, version, license }) => `| ${name} | ${version} | ${license} |`)
  const byText = new Map<string, string[]>()
  // Packages that do not exist on every machine would make the document differ. The builds for a platform have the license of
  // their package.
  for (const { name, version, path } of packages.filter(({ optional }) => !optional)) {
    for (const text of licenseTexts(path)) byText.set(text, [...(byText.get(text) ?? []), `${name} ${version}`])
  }
  const texts = [...byText].map(
    ([text, users]) => `${[...new Set(users)].join(', ')}\n\n\`\`\`\`\`text\n${text}\n\`\`\`\`\``,
  )
  return `<!-- Written from package-lock.json and node_modules by: npm run notices -->

# Third-party notices

Penstock runs on these packages; what the console uses of them is built into its files. Each is under the license that its
row names. The embedded PostgreSQL is PostgreSQL itself, under the PostgreSQL License. Packages of which no text follows
bring none along, or are not installed on every machine.

| Package | Version | License |
|---|---|---|
${[...new Set(rows)].join('\n')}

## Texts

${texts.join('\n\n')}
`
}

function licenseTexts(path: string): string[] {
  const directory = join(root, path)
  return readdirSync(directory)
    .filter((file) => /^(licen[cs]e|copying|notice)([.-].*)?$/i.test(file) && !/\.[cm]?[jt]s$/.test(file))
    .sort(compare)
    .map((file) =>
      readFileSync(join(directory, file), 'utf8')
        .replaceAll('\r\n', '\n')
        .replaceAll(/[ \t]+$/gm, '')
        .trim(),
    )
    .filter(Boolean)
}

function compare(a: string, b: string): number {
  if (a === b) return 0
  return a < b ? -1 : 1
}

if (import.meta.main) writeFileSync(join(root, 'THIRD_PARTY_NOTICES.md'), makeNotices())
