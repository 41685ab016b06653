import { type Connector, ConnectorError, defineConnector } from '@penstock/connector'
import { errorOfDefinition, writeDefinition } from '@penstock/connectors/installed'
import {
  definitionOfProgram,
  formOf,
  formOfTap,
  type Program,
  type ProgramForm,
  specOf,
} from '@penstock/connectors/programs'
import type { Config } from '../../config.ts'
import { takeProgramUser } from '../../runners/program-users.ts'
import { findProgramWall } from '../../runners/program-wall.ts'
import { findRunnerUser } from '../../runners/runner-user.ts'
import { type AddedConnectorPackage, addFrom } from './add-package.ts'
import { PackageRefused } from './probe.ts'

/** How long a program can take to report its configuration, in milliseconds. */
const specMs = 120_000

/** A program that the operator adds, as the command line names it. */
export type AddedProgram = {
  readonly protocol: Program['protocol']
  /** The program and its arguments, as a shell reads them: with quotes, and without anything else. */
  readonly command: string
  readonly slug: string
  readonly name: string
}

/**
 * Adds a connector whose data a program reads. A program of the Airbyte protocol is run once, for its form.
 * @throws PackageRefused with the reason
 */
export function addProgram(
  config: Config,
  { protocol, command: line, slug, name }: AddedProgram,
): Promise<AddedConnectorPackage> {
  return addFrom(config, async () => {
    const command = wordsOf(line)
    if (command.length === 0) throw new PackageRefused('Name the program and its arguments, in quotes.')
    const form = protocol === 'airbyte' ? await findForm(config, command) : formOfTap
    const program: Program = { protocol, command, form }
    let connector: Connector
    try {
      connector = defineConnector(definitionOfProgram(program, { slug, name }))
    } catch (error) {
      throw new PackageRefused(`The program cannot be added: ${(error as Error).message}.`)
    }
    const written = JSON.parse(JSON.stringify(writeDefinition(connector)))
    const definition = {
      ...written,
      checks: true,
      source: { ...written.source, opens: true, discovers: ['stream', 'columns'] },
    }
    const wrong = errorOfDefinition(definition)
    if (wrong !== undefined) throw new PackageRefused(`The program cannot be added: its form is wrong: ${wrong}.`)
    const about = protocol === 'airbyte' ? 'a program of the Airbyte protocol' : 'a tap of Singer'
    return { form: 1, slug, package: { name: about, version: '', from: line }, program, definition }
  })
}

async function findForm(config: Config, command: readonly string[]): Promise<ProgramForm> {
  const wall = findProgramWall(config)
  if (wall.kind === 'off') throw new PackageRefused(wall.why)
  const runners = findRunnerUser(config).user
  const own = wall.kind === 'user' ? takeProgramUser(runners) : undefined
  const user = own?.user ?? runners
  try {
    return formOf(await specOf({ command, config: () => ({}), signal: AbortSignal.timeout(specMs), user, wall }))
  } catch (error) {
    const { message, name } = error as Error
    const late = name === 'TimeoutError' ? `it did not answer within ${specMs / 1000} seconds` : undefined
    const why = late ?? (error instanceof ConnectorError ? message.replace(/\.$/, '') : message)
    throw new PackageRefused(`The program cannot be added: ${why}.`)
  } finally {
    own?.giveBack()
  }
}

/** The words of a command line, with single and double quotes. Nothing is expanded, since no shell reads it. */
function wordsOf(line: string): readonly string[] {
  const words = line.match(/(?:[^\s"']|"[^"]*"|'[^']*')+/g) ?? []
  const used = words.join('').length + (line.match(/\s/g)?.length ?? 0)
  const inQuotes = words.join('').match(/\s/g)?.length ?? 0
  if (used - inQuotes !== line.length) throw new PackageRefused('The command has a quote that does not end.')
  return words.map((word) => word.replace(/"([^"]*)"|'([^']*)'/g, (_, double, single) => double ?? single))
}
