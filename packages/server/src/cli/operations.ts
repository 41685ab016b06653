import type { Command } from 'commander'
import type { WithConfig } from './with-config.ts'

/** Commands for the operator: figures, limits and transfers of all organizations, and keys. */

const json = ['--json', 'print JSON, for programs'] as const

/** `penstock transfer`. */
export function addTransferCommands(program: Command, withConfig: WithConfig): void {
  const transfers = () => import('./transfers.ts')
  const transfer = program.command('transfer').description('transfers of all organizations')
  transfer
    .command('list')
    .description('list transfers, newest first; queued and running ones unless --status names others')
    .option(
      '--status <status...>',
      'queued, running, succeeded, partial, failed or cancelled; active, retrying or all (active)',
    )
    .option('--organization <id>', 'of this organization only')
    .option('--account <id>', 'of this sub-account only')
    .option('--connection <id>', 'of this connection only')
    .option('--worker <name>', 'of this worker only, such as host:1234')
    .option('--older-than <age>', 'started at least this long ago, such as 90s, 15m, 2h or 7d')
    .option('--limit <number>', 'how many at most (100)')
    .option(...json)
    .action(withConfig(async () => (await transfers()).listTransfersCommand))
  transfer
    .command('show <transferId>')
    .description('show a transfer, its parts, and what it waits for')
    .option(...json)
    .action(withConfig(async () => (await transfers()).showTransferCommand))
  transfer
    .command('cancel <transferId>')
    .description('cancel a transfer that has not ended; a running one ends with its batch')
    .option(...json)
    .action(withConfig(async () => (await transfers()).cancelTransferCommand))
}

/** Figures and limits of organizations, in `penstock org`. */
export function addOrganizationCommands(org: Command, withConfig: WithConfig): void {
  const organizations = () => import('./organizations.ts')
  org
    .command('show <organizationId>')
    .description('show the figures of an organization, and its limits')
    .option(...json)
    .action(withConfig(async () => (await organizations()).showOrganizationCommand))
  org
    .command('limit <organizationId> <limit> <value>')
    .description('set a limit of an organization; default: the limit of the settings')
    .option(...json)
    .action(withConfig(async () => (await organizations()).limitOrganizationCommand))
}

/** `penstock key` and `penstock identity-key`. */
export function addKeyCommands(program: Command, withConfig: WithConfig): void {
  program
    .command('key')
    .description('master key')
    .command('rotate')
    .description('seal every secret again under a new master key, while the service runs')
    .option(...json)
    .action(withConfig(async () => (await import('./rotate-key.ts')).rotateKeyCommand))
  program
    .command('identity-key')
    .description('the key that signs the identity tokens of sub-accounts')
    .command('rotate')
    .description('add a key, which replaces the present one after a day')
    .option('--now', 'replace it immediately, and withdraw all other keys, because somebody may know them')
    .option(...json)
    .action(withConfig(async () => (await import('./identity-key.ts')).rotateIdentityKeyCommand))
}
