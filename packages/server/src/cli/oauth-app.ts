import { readFile } from 'node:fs/promises'
import type { AuthorizationServer } from '@penstock/connector'
import { connectors } from '@penstock/connectors'
import { recordCommand } from '../audit/record.ts'
import { redirectUriOf } from '../authorizations/flow.ts'
import { type Config, ConfigError } from '../config.ts'
import type { Logger } from '../log.ts'
import { openKeyring } from '../secrets/keyring.ts'
import { listOAuthApps, removeOAuthApp, setOAuthApp } from '../secrets/oauth-apps.ts'
import { print, printTable } from './print.ts'
import { withRuntime } from './runtime.ts'

/** `penstock oauth-app`: the apps that the operator registered with platforms, so that users authorize connectors with a click. */

type Json = { json?: boolean }

/** Characters of a client ID and of a secret. */
const lengthMax = 4_096

/** Every platform at which connectors can be authorized, by its slug. */
const servers: ReadonlyMap<string, AuthorizationServer> = new Map(
  connectors
    .flatMap(({ authorization }) => (authorization ? [authorization.server] : []))
    .map((server) => [server.slug, server] as const)
    .sort(([a], [b]) => (a < b ? -1 : 1)),
)

/** @throws ConfigError if no connector is authorized at such a platform */
function requireServer(slug: string): AuthorizationServer {
  const server = servers.get(slug)
  if (server) return server
  throw new ConfigError([
    `The platform ${slug} does not support apps. Choose one of ${[...servers.keys()].join(', ')}.`,
  ])
}

/** Registers an app, or replaces it. The secret comes from a file or from standard input, so that no list of processes shows it. */
export async function setOAuthAppCommand(
  config: Config,
  log: Logger,
  slug: string,
  { clientId, secretFile, json }: Json & { clientId: string; secretFile?: string },
): Promise<void> {
  const server = requireServer(slug)
  const id = clientId.trim()
  const fieldErrors: string[] = []
  if (!isText(id)) fieldErrors.push(`--client-id must have 1 to ${lengthMax} visible ASCII characters.`)
  const clientSecret = (await (secretFile === undefined ? readInput() : readFile(secretFile, 'utf8'))).trim()
  if (!isText(clientSecret)) {
    const place = secretFile === undefined ? 'Standard input' : 'The file of --secret-file'
    fieldErrors.push(`${place} must hold the client secret: 1 to ${lengthMax} visible ASCII characters.`)
  }
  if (fieldErrors.length > 0) throw new ConfigError(fieldErrors)
  await withRuntime(config, log, async ({ database, masterKey }) => {
    const keyring = await openKeyring(database, masterKey)
    const app = { env: config.environment.name, slug }
    await database.transaction(async (tx) => {
      await setOAuthApp(tx, keyring, app, { clientId: id, clientSecret })
      recordCommand(tx, 'oauth-app set', { platform: slug, clientId: id })
    })
  })
  const redirectUri = redirectUriOf(config)
  const isPublic = redirectUri.startsWith('https://')
  print(
    { platform: slug, clientId: id, redirectUri },
    json,
    [
      `The app at ${server.name} is registered in the environment ${config.environment.name}. Users can authorize connectors with it.`,
      `Register this redirect URI with ${server.name}: ${redirectUri}`,
      ...(isPublic
        ? []
        : ['Most platforms accept only https:// addresses. Set PENSTOCK_PUBLIC_URL to the address of the service.']),
    ].join('\n'),
  )
}

/** Lists every platform at which an app can be registered, and the apps that are. */
export async function listOAuthAppsCommand(config: Config, log: Logger, { json }: Json): Promise<void> {
  const rows = await withRuntime(config, log, ({ database }) => listOAuthApps(database, config.environment.name))
  const list = [...new Set([...servers.keys(), ...rows.map(({ slug }) => slug)])].map((slug) => {
    const row = rows.find((one) => one.slug === slug)
    return { platform: slug, clientId: row?.clientId ?? null, savedTime: row?.savedTime.toISOString() ?? null }
  })
  printTable(list, json, 'No connector can be authorized with a click.')
}

/** Removes an app. From then on, connectors that were authorized with it report that the app is missing. */
export async function removeOAuthAppCommand(config: Config, log: Logger, slug: string, { json }: Json): Promise<void> {
  const removed = await withRuntime(config, log, ({ database }) =>
    database.transaction(async (tx) => {
      const isRemoved = await removeOAuthApp(tx, { env: config.environment.name, slug })
      if (isRemoved) recordCommand(tx, 'oauth-app remove', { platform: slug })
      return isRemoved
    }),
  )
  if (!removed) throw new Error(`No app of ${slug} is registered. penstock oauth-app list shows all apps.`)
  print(
    { platform: slug, removed: true },
    json,
    `The app of ${slug} is removed. Transfers of connectors that were authorized with it fail until an app with the same client ID is registered, or they are authorized again.`,
  )
}

const isText = (text: string): boolean => text.length <= lengthMax && /^[\x21-\x7e]+$/.test(text)

/** Reads standard input to its end, up to the maximum length of a secret. */
async function readInput(): Promise<string> {
  if (process.stdin.isTTY) process.stderr.write('Enter the client secret, then end the input (Ctrl-D).\n')
  let text = ''
  for await (const piece of process.stdin.setEncoding('utf8')) {
    text += piece
    if (text.length > 2 * lengthMax) break
  }
  return text
}
