import { readdirSync, readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import type { Connector, Platform } from '@penstock/connector'
import type { Program } from '../programs/definition-of-program.ts'
import { errorOfDefinition } from './error-of-definition.ts'
import { readDefinition, type WrittenDefinition } from './written-definition.ts'

/**
 * Connectors that the operator added to a deployment. Each has a folder of its slug in the folder of the deployment, with the file
 * `connector.json` and its code in `code`.
 */
export type InstalledRecord = {
  /** The form of this file: 1. */
  readonly form: 1
  readonly slug: string
  /** The package that it came in, and where from, as the operator named it. */
  readonly package: { readonly name: string; readonly version: string; readonly from: string }
  /** The folder of the package in `code`, with `/` between its parts. Its exports say which module is the definition. */
  readonly main?: string
  /** A program that reads the data, instead of code. */
  readonly program?: Program
  readonly definition: WrittenDefinition
  /** When it was added, in ISO 8601. A record that an earlier version wrote has the time of its file. */
  readonly addedTime: string
}

/** A definition with its package: all that the service needs of a connector. */
export type Defined = {
  readonly package: Pick<InstalledRecord['package'], 'name' | 'version'>
  readonly definition: WrittenDefinition
}

/** Connectors that were read from a folder, and a sentence for each subfolder without a usable connector. */
export type Installed = {
  readonly connectors: readonly { readonly connector: Connector; readonly record: InstalledRecord }[]
  readonly problems: readonly string[]
}

/** The file of an installed connector, in its folder. */
export const recordFile = 'connector.json'

/** Slugs are the only valid folder names. */
const isSlug = (name: string): boolean => /^[a-z0-9]+(-[a-z0-9]+)*$/.test(name)

/**
 * Reads the connectors of a folder. Empty if the folder does not exist. Loads none of their code, and never throws.
 * @param taken the connectors of the catalogue, whose slugs and names are reserved
 */
export function readInstalled(
  folder: string,
  taken: { readonly connectors: readonly Connector[]; readonly platforms: readonly Platform[] },
): Installed {
  const connectors: { connector: Connector; record: InstalledRecord }[] = []
  const problems: string[] = []
  for (const name of foldersIn(folder, problems)) {
    try {
      const record = readRecord(folder, name)
      const found = readInstalledConnector(record, [
        ...taken.platforms,
        ...connectors.map((one) => one.connector.platform),
      ])
      const others = [...taken.connectors, ...connectors.map((one) => one.connector)]
      const clash = whyTaken(found, others)
      if (clash !== undefined) throw new Error(clash)
      connectors.push({ connector: found, record })
    } catch (error) {
      problems.push(`The connector in ${join(folder, name)} cannot be used: ${(error as Error).message}.`)
    }
  }
  return { connectors, problems }
}

/** Why a connector conflicts with others, as the rest of a sentence. Undefined if it does not. */
export function whyTaken({ slug, name }: Connector, others: readonly Connector[]): string | undefined {
  if (others.some((one) => one.slug === slug)) return `the catalogue has a connector ${slug} already`
  return others.some((one) => one.name === name)
    ? `the catalogue has a connector with the name ${name} already`
    : undefined
}

/**
 * The record of one installed connector.
 * @throws Error without a full stop if there is no readable record
 */
export function readRecord(folder: string, slug: string): InstalledRecord {
  if (!isSlug(slug)) throw new Error(`${slug} is no slug`)
  const file = join(folder, slug, recordFile)
  let record: InstalledRecord
  try {
    record = JSON.parse(readFileSync(file, 'utf8'))
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException
    throw new Error(code ? `its ${recordFile} cannot be read (${code})` : `its ${recordFile} is not JSON`)
  }
  if (record?.form !== 1) throw new Error(`its ${recordFile} was written by another version of Penstock`)
  const wrong = errorOfDefinition(record.definition)
  if (wrong !== undefined) throw new Error(`its definition is wrong: ${wrong}`)
  if (record.definition.slug !== slug) throw new Error(`it is the connector ${record.definition.slug}`)
  if (!record.program && !isFolder(record.main)) throw new Error('its code is elsewhere')
  const isTimed = !Number.isNaN(Date.parse(record.addedTime))
  return { ...record, addedTime: isTimed ? record.addedTime : statSync(file).mtime.toISOString() }
}

const isFolder = (main: unknown): boolean =>
  typeof main === 'string' && /^[\w@.-]+(\/[\w@.-]+)*$/.test(main) && !main.split('/').includes('..')

/** The slugs of the connectors in a folder that are programs. Other connectors are skipped. */
export const programsIn = (folder: string): readonly string[] =>
  foldersIn(folder, []).filter((slug) => isProgramIn(folder, slug))

/** Whether the connector in a folder is a program, as the folder is now. */
export function isProgramIn(folder: string, slug: string): boolean {
  try {
    return readRecord(folder, slug).program !== undefined
  } catch {
    return false
  }
}

/**
 * Identifies the present code of the connector in a folder. Undefined if there is no connector. Each time that the connector is
 * added, the identifier changes.
 */
export function codeIn(folder: string, slug: string): string | undefined {
  try {
    const { addedTime, package: from } = readRecord(folder, slug)
    return `${from.version} ${addedTime}`
  } catch {
    return undefined
  }
}

/** The connector of a record, with a sentence about its package. */
export function readInstalledConnector(
  { package: from, definition }: Defined,
  platforms: readonly Platform[],
): Connector {
  return Object.freeze({
    ...readDefinition(definition, platforms),
    tested: `nothing that Penstock knows of: your operator added this connector (${from.name} ${from.version})`,
  })
}

function foldersIn(folder: string, problems: string[]): string[] {
  try {
    return readdirSync(folder, { withFileTypes: true })
      .filter((entry) => entry.isDirectory() && isSlug(entry.name))
      .map(({ name }) => name)
      .sort()
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException
    // A data directory that is not a directory is reported as such.
    if (code !== 'ENOENT' && code !== 'ENOTDIR')
      problems.push(`The folder ${folder} of added connectors cannot be read (${code}).`)
    return []
  }
}
