import { Command, CommanderError } from 'commander'
import { ConfigError, readConfig } from '../config.ts'
import { createLogger, describeError } from '../log.ts'
import { asTyped } from '../own-command.ts'
import { addConnectorCommands } from './connector-commands.ts'
import { addKeyCommands, addOrganizationCommands, addTransferCommands } from './operations.ts'
import { withFreePort } from './port.ts'
import { tell } from './print.ts'
import type { WithConfig } from './with-config.ts'

/** Exit codes: the command did what it says · it failed · it was called wrongly or a setting is bad. */
const exitCodes = { done: 0, failed: 1, usage: 2 } as const

/** Runs the command line, `serve` if it is empty, and sets the exit code of the process. Every failure is one clear sentence on standard error. */
export async function runCommand(args: readonly string[]): Promise<void> {
  try {
    if (/^(?:-V|--version)$/.test(args[0] ?? '')) return await (await import('./version.ts')).printVersion()
    await buildProgram().parseAsync(args.length === 0 ? ['serve'] : withHelpFirst(args), { from: 'user' })
  } catch (error) {
    const code = reportFailure(error)
    // With these, as with terraform, 2 says that there is something to change.
    process.exitCode =
      code === exitCodes.usage && /^(?:plan|apply|export)$/.test(args[0] ?? '') ? exitCodes.failed : code
  }
}

/** `COMMAND --help` is `help COMMAND`: both show the same, and refuse a command that does not exist. */
function withHelpFirst(args: readonly string[]): readonly string[] {
  const asked = args.findIndex((argument) => argument.startsWith('-'))
  return asked > 0 && /^(?:-h|--help)$/.test(args[asked] ?? '') ? ['help', ...args.slice(0, asked)] : args
}

/**
 * Shows the help of the command that `path` leads to. If a command has no subcommands, the words after its name are its
 * arguments.
 */
async function showHelp(program: Command, path: readonly string[]): Promise<void> {
  let shown = program
  for (const name of path) {
    const next = shown.commands.find((command) => command.name() === name || command.aliases().includes(name))
    if (!next && shown.commands.length === 0) break
    // The library refuses the name, and suggests the most similar one.
    if (!next) return void (await shown.parseAsync([name], { from: 'user' }))
    shown = next
  }
  shown.help()
}

/** The command line: every command, its arguments and options. */
export function buildProgram(): Command {
  const program = new Command('penstock')
    .description('Moves data between marketing, advertising and data platforms')
    .exitOverride()
    .showHelpAfterError(asTyped('Run penstock help to see every command.'))
    .option('-V, --version', 'print the versions of Penstock, Node and the database schema')
    .helpCommand(false)
  program
    .command('help [command...]')
    .description('show the arguments and options of a command')
    .action((path) => showHelp(program, path))
  // Each command loads what it needs when it runs: listing clients need not load a web server.
  const withConfig: WithConfig =
    (load, { quiet = true, listens = false } = {}) =>
    async (...rest) => {
      const config = readConfig(await withFreePort(process.env), { listens })
      // Commands print for a person. Only long-running commands log.
      const log = createLogger(quiet ? 'silent' : config.logLevel)
      await (await load())(config, log, ...rest)
    }
  const admin = () => import('./admin.ts')
  const json = ['--json', 'print JSON, for programs'] as const

  program
    .command('serve')
    .description('run the service; so does penstock without a command')
    .action(withConfig(async () => (await import('./serve.ts')).serve, { quiet: false, listens: true }))
  program
    .command('worker')
    .description('run background jobs only')
    .action(withConfig(async () => (await import('./serve.ts')).work, { quiet: false }))
  program
    .command('migrate')
    .description('bring the database schema up to date')
    .option(...json)
    .action(withConfig(async () => (await admin()).migrateDatabase))
  program
    .command('doctor')
    .description('check the settings, and all that they name outside of the process')
    .option(...json)
    .action(async (options) => {
      const { doctor } = await import('./doctor.ts')
      const found = await doctor(process.env, options)
      if (found !== 'well') process.exitCode = found === 'bad settings' ? exitCodes.usage : exitCodes.failed
    })
  const backup = () => import('./backup.ts')
  program
    .command('backup <file>')
    .description('write the whole database, without the master key, to a file')
    .option(...json)
    .action(withConfig(async () => (await backup()).backupCommand))
  program
    .command('restore <file>')
    .description('restore a backup into an empty database; schedules are paused then')
    .option(...json)
    .action(withConfig(async () => (await backup()).restoreCommand))
  const schedules = program.command('schedules').description('schedules of connections')
  schedules
    .command('pause')
    .description('keep schedules from starting transfers')
    .option(...json)
    .action(withConfig(async () => (await backup()).pauseSchedulesCommand))
  schedules
    .command('resume')
    .description('let schedules start transfers again, after a restore or a pause')
    .option(...json)
    .action(withConfig(async () => (await backup()).resumeSchedulesCommand))
  program
    .command('documents', { hidden: true })
    .description('write the documents that are generated from the code')
    .option('--check', 'change nothing, fail if a document differs')
    .action(async (options) => (await import('./documents.ts')).documents(options))

  program
    .command('mcp')
    .description(
      'offer a Penstock to language models as tools, by the Model Context Protocol on standard input and output',
    )
    .option('--url <address>', 'where the Penstock is (PENSTOCK_URL)')
    .option('--credentials <file>', 'JSON with clientId and clientSecret (PENSTOCK_CLIENT_ID, PENSTOCK_CLIENT_SECRET)')
    .option('--tools <names>', 'offer only these sets of tools or tools, separated by commas, such as core,webhooks')
    .option('--read-only', 'offer only tools that change nothing')
    .option('--output-schemas', 'list the schemas of the answers, too')
    .action(async (options) => (await import('./mcp.ts')).serveModels(options, process.env))

  const users = () => import('./users.ts')
  const org = program.command('org').alias('organization').description('organizations')
  org
    .command('create')
    .description('create an organization with its first client credentials')
    .requiredOption('--name <name>', 'name of the organization')
    .requiredOption('--owner-email <address>', 'e-mail address of its owner')
    .option(...json)
    .action(withConfig(async () => (await admin()).createOrganizationCommand))
  org
    .command('list')
    .description('list organizations')
    .option('--figures', 'with their sub-accounts, connections, transfers, rows of the month, and bytes stored')
    .option(...json)
    .action(withConfig(async () => (await admin()).listOrganizationsCommand))
  org
    .command('allow-passwords <organizationId>')
    .description('let people sign in with only a password again, if their organization requires a second factor')
    .option(...json)
    .action(withConfig(async () => (await users()).allowPasswordsCommand))
  addOrganizationCommands(org, withConfig)
  addTransferCommands(program, withConfig)

  const client = program.command('client').description('client credentials')
  client
    .command('create')
    .description('create client credentials for an organization')
    .requiredOption('--organization <id>', 'identifier of the organization')
    .option('--name <name>', 'what you call it, such as what uses it')
    .option('--scope <scope...>', 'what it may do, such as connections:read; everything unless given')
    .option('--account <id...>', 'sub-accounts that it is limited to')
    .option('--expires <time>', 'when it expires, such as 2030-01-31; never unless given')
    .option(...json)
    .action(withConfig(async () => (await admin()).createClientCommand))
  client
    .command('list')
    .description('list clients')
    .option('--organization <id>', 'of this organization only')
    .option(...json)
    .action(withConfig(async () => (await admin()).listClientsCommand))
  client
    .command('rename <clientId> <name>')
    .description('call a client by another name')
    .option(...json)
    .action(withConfig(async () => (await admin()).renameClientCommand))
  client
    .command('rotate <clientId>')
    .description('replace the secret of a client')
    .option('--overlap-hours <hours>', 'how long the present secret is still accepted (24)')
    .option(...json)
    .action(withConfig(async () => (await admin()).rotateClientCommand))
  client
    .command('revoke <clientId>')
    .description('revoke a client and every token it holds')
    .option(...json)
    .action(withConfig(async () => (await admin()).revokeClientCommand))

  const user = program.command('user').description('people, who sign in with e-mail address and password')
  user
    .command('invite')
    .description('print a link for a person to set a password: to join, or to sign in again')
    .requiredOption('--organization <id>', 'identifier of the organization')
    .requiredOption('--email <address>', 'e-mail address of the person')
    .option('--role <role>', 'owner, admin, editor or viewer (viewer)')
    .option(...json)
    .action(withConfig(async () => (await users()).inviteUserCommand))
  user
    .command('list')
    .description('list people, invited ones included')
    .option('--organization <id>', 'of this organization only')
    .option(...json)
    .action(withConfig(async () => (await users()).listUsersCommand))
  user
    .command('remove <userId>')
    .description('remove a person with every session they have')
    .option(...json)
    .action(withConfig(async () => (await users()).removeUserCommand))
  user
    .command('remove-passkeys <userId>')
    .description('remove the passkeys of a person who has lost the device, and end every session they have')
    .option(...json)
    .action(withConfig(async () => (await users()).removePasskeysCommand))

  const account = program.command('account').description('sub-accounts')
  account
    .command('list')
    .description('list sub-accounts')
    .option('--deleted', 'those instead that were deleted within the last 30 days and can be restored')
    .option('--organization <id>', 'of this organization only')
    .option(...json)
    .action(withConfig(async () => (await admin()).listAccountsCommand))
  account
    .command('restore <accountId>')
    .description('restore an account that was deleted within the last 30 days, with all it held')
    .option(...json)
    .action(withConfig(async () => (await admin()).restoreAccountCommand))
  const auditLog = () => import('./audit.ts')
  const audit = program.command('audit').description('the audit log')
  audit
    .command('verify')
    .description('verify that no event was changed, removed, moved or added; exit code 1 if one was')
    .option('--organization <id>', 'the log of this organization only')
    .option('--expect <number:hash>', 'what an earlier verification printed and you kept elsewhere')
    .option(...json)
    .action(withConfig(async () => (await auditLog()).verifyAuditCommand))
  audit
    .command('export')
    .description('print every event, oldest first, a line of JSON each')
    .option('--organization <id>', 'of this organization only')
    .action(withConfig(async () => (await auditLog()).exportAuditCommand))
  const oauthApp = program
    .command('oauth-app')
    .description('apps registered with platforms, to authorize connectors with a click')
  oauthApp
    .command('set <platform>')
    .description('register an app, or replace it; its client secret comes from standard input')
    .requiredOption('--client-id <id>', 'client ID that the platform gave the app')
    .option('--secret-file <file>', 'file with the client secret, instead of standard input')
    .option(...json)
    .action(withConfig(async () => (await import('./oauth-app.ts')).setOAuthAppCommand))
  oauthApp
    .command('list')
    .description('list the platforms, and the apps that are registered with them')
    .option(...json)
    .action(withConfig(async () => (await import('./oauth-app.ts')).listOAuthAppsCommand))
  oauthApp
    .command('remove <platform>')
    .description('remove an app; connectors that were authorized with it stop working')
    .option(...json)
    .action(withConfig(async () => (await import('./oauth-app.ts')).removeOAuthAppCommand))

  addConnectorCommands(program, withConfig)

  const configuration = () => import('./configuration.ts')
  const ofService = ['--url <address>', 'address of the service (PENSTOCK_URL)'] as const
  const withPlanOptions = (command: Command) =>
    command
      .option(...ofService)
      .option('--allow-destroy', 'delete what the files do not have, in the sub-accounts that they have')
      .option('--allow-destroy-accounts', 'delete sub-accounts that are not in the files, with all that they hold')
      .option('--set-secrets', 'send all secrets, including secrets that are already set')
      .option('--files-within <directory>', 'refuse references to files outside of this directory')
      .option(...json)
  program
    .command('export')
    .description('write the configuration of a service as YAML, with references instead of secrets')
    .option(...ofService)
    .option('--account <name...>', 'these sub-accounts only')
    .option('--output <file>', 'write it to this file, not to standard output')
    .option('--directory <directory>', 'write a file for each sub-account to this directory')
    .option(...json)
    .action(async (options) => (await configuration()).exportCommand(options))
  withPlanOptions(program.command('plan <path...>'))
    .description('show what apply would change; exit code 0: nothing, 2: something, 1: an error')
    .action(async (paths, options) => (await configuration()).planCommand(paths, options))
  withPlanOptions(program.command('apply <path...>'))
    .description('make a service what YAML files say; exit code 3: it was changed after the plan was made')
    .option('--expect <digest>', 'change nothing unless the plan has this digest')
    .option('--webhook-secrets <file>', 'add the signing secrets of new webhooks to this file, which only you can read')
    .action(async (paths, options) => (await configuration()).applyCommand(paths, options))

  program
    .command('import-source <manifest>')
    .description('make a configuration of the connector HTTP API from a low-code manifest of Airbyte, and print it')
    .option('--value <name=value...>', 'values of its configuration that are no secrets')
    .action(async (file, options) => (await import('./import-source.ts')).importSourceCommand(file, options))

  const connections = () => import('./connections.ts')
  const connection = program.command('connection').description('transfers and state of a connection')
  const ofConnection = (command: Command) =>
    command
      .option(...ofService)
      .requiredOption('--account <accountId>', 'sub-account of the connection')
      .option(...json)
  ofConnection(connection.command('backfill <connectionId>'))
    .description('start a transfer that reads a range of the source; the cursor does not change')
    .requiredOption('--from <day>', 'first day, such as 2026-01-31, or first time, such as 2026-01-31T00:00:00Z')
    .requiredOption('--to <day>', 'last day, or the time at which the range ends')
    .option('--table <name...>', 'of many tables: these only, such as shop.orders')
    .action(async (id, options) => (await connections()).backfillCommand(id, options))
  ofConnection(connection.command('reset <connectionId>'))
    .description('forget the state of a connection, so that the next transfer is a full refresh')
    .option('--cursor', 'forget the cursor and the files that were read, only')
    .option('--rows', 'forget the rows that were sent, only')
    .option('--table <name...>', 'of many tables: forget the cursors of these only, such as shop.orders')
    .action(async (id, options) => (await connections()).resetCommand(id, options))

  const person = program.command('person').description('one person in the rejected records that a service keeps')
  const withPersonOptions = (command: Command) =>
    command
      .option(...ofService)
      .option('--account <accountId>', 'in this sub-account only')
      .option(...json)
  withPersonOptions(person.command('find'))
    .description('list the records of the person who is named on standard input, one value a line')
    .action(async (options) => (await import('./data-subjects.ts')).findPersonCommand(options))
  withPersonOptions(person.command('erase'))
    .description('erase the records of the person who is named on standard input, one value a line')
    .action(async (options) => (await import('./data-subjects.ts')).erasePersonCommand(options))

  addKeyCommands(program, withConfig)
  return program
}

function reportFailure(error: unknown): number {
  // Closing failed after something else had failed. Report the first failure, which the person can act on.
  if (error instanceof SuppressedError) return reportFailure(error.suppressed)
  if (error instanceof CommanderError) return error.exitCode === 0 ? exitCodes.done : exitCodes.usage
  if (error instanceof ConfigError) {
    for (const fieldError of error.fieldErrors) tell(fieldError)
    return exitCodes.usage
  }
  const { message, code, cause } = describeError(error)
  const causeMessage = (cause as { message?: unknown } | undefined)?.message
  const said = `${message ?? `the database refused (${code})`}${causeMessage ? ` (${causeMessage})` : ''}`
  tell(said)
  return exitCodes.failed
}
