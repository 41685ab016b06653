import type { Command } from 'commander'
import type { WithConfig } from './with-config.ts'

const json = ['--json', 'print JSON, for programs'] as const

/** Adds `penstock connector`: connectors that an operator adds, and descriptions of HTTP APIs. */
export function addConnectorCommands(program: Command, withConfig: WithConfig): void {
  const own = () => import('./connector.ts')
  const connector = program
    .command('connector')
    .description('connectors that you add to this deployment, and destinations that you describe')
  connector
    .command('add [package]')
    .description('add a connector, or another version of it: a directory, a tarball, a package of npm, or a program')
    .option('--airbyte <command>', 'a program of the Airbyte protocol that is a source, with its arguments')
    .option('--singer <command>', 'a tap of Singer, with its arguments')
    .option('--properties', 'the tap takes its catalogue as --properties')
    .option('--slug <slug>', 'slug of the connector of a program, which never changes')
    .option('--name <name>', 'name of the connector of a program')
    .option(...json)
    .action(withConfig(async () => (await own()).addConnectorCommand))
  connector
    .command('list')
    .description('list the connectors that were added on this machine')
    .option(...json)
    .action(withConfig(async () => (await own()).listConnectorsCommand))
  connector
    .command('remove <slug>')
    .description('remove a connector that was added and that nothing uses')
    .option(...json)
    .action(withConfig(async () => (await own()).removeConnectorCommand))
  connector
    .command('new <slug>')
    .description('write a package with a connector that works, to be changed')
    .option(...json)
    .action(withConfig(async () => (await own()).newConnectorCommand))
  connector
    .command('test <directory>')
    .description('try a package: its definition, then its tests')
    .action(withConfig(async () => (await own()).testConnectorCommand))
  connector
    .command('import <document>')
    .description('make a described destination from an operation of OpenAPI or from a JSON Schema, and print it')
    .option('--operation <operation>', 'method and path, such as "POST /people", or the ID of the operation')
    .option('--name <name>', 'name of the operation in the definition')
    .action(async (file, options) => (await import('./import-document.ts')).importDocumentCommand(file, options))
  connector
    .command('try <definition>')
    .description('send up to three rows by an operation of a described destination, and print what it answers')
    .requiredOption('--rows <file>', 'JSON list of one to three rows')
    .requiredOption('--operation <name>', 'operation of the definition')
    .option('--value <name=value...>', 'values of the configuration that are not secrets, such as url=https://…')
    .option('--secret <name=reference...>', 'secrets of the configuration, such as apiToken=env:TOKEN')
    .option('--parameter <name=value...>', 'parameters of the operation')
    .option(...json)
    .action(withConfig(async () => (await import('./try-destination.ts')).tryDestinationCommand, { listens: true }))
}
