import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { type Client, createClient } from '@penstock/client'
import type { Connector } from '@penstock/connector'
import type { Account, Connection, Transfer } from '@penstock/wire'
import pg from 'pg'
import type { Browser, BrowserContext, Locator, Page } from 'playwright-core'
import { generateMasterKey } from '../../packages/server/src/secrets/seal.ts'
import { type Look, launchBrowser, type OpenedPage, openContext, openPage, openPageIn } from './browser.ts'
import { createTestDatabase, execute } from './database.ts'
import { connectorBySlug } from './fixtures.ts'
import { ownerLink } from './owner-link.ts'
import { freePort } from './process.ts'
import { postgresqlSecrets } from './transfers.ts'
import { until } from './until.ts'

/**
 * The console as its users see it: the real service in a separate process, on a separate database, with a folder of files and a
 * PostgreSQL to load into, and browsers.
 */

const root = dirname(dirname(import.meta.dirname))
export const localFolder = connectorBySlug('local-folder')
export const postgresql = connectorBySlug('postgresql')

export type ConsoleStage = {
  readonly url: string
  readonly credentials: { clientId: string; clientSecret: string }
  /** The path of the link with which the owner sets a password. It is always the same link. */
  readonly firstLink: () => Promise<string>
  /** The service's own database. */
  readonly databaseUrl: string
  /** Runs a statement in it. */
  sql(statement: string): Promise<void>
  /** The same API, to make what a test starts from. */
  readonly client: Client
  /** The folder that the local folder connector can read and write. */
  readonly folder: string
  /** A database for the PostgreSQL connector to write to. */
  readonly target: pg.Pool
  readonly targetSecrets: Record<string, string | number>
  /**
   * Opens a page that is signed in, as after a reload, unless `signedIn` is false. Signed-in pages are tabs of one browser.
   * `alone` opens the page in a separate browser. Pages without a session always have one.
   */
  open(path: string, options?: { look?: Look; signedIn?: boolean; alone?: boolean }): Promise<Page>
  /** Closes every open page, because each keeps calling the service. Fails if one of them had an error. */
  closePages(): Promise<void>
  /** Ends the service as a crash does. */
  kill(): Promise<void>
  /** Starts it again, at the same address. */
  start(): Promise<void>
  addAccount(name: string): Promise<Account>
  /** Adds and configures both of the connectors that can move data here. */
  addSides(accountId: string): Promise<void>
  /** A connection from a file in the folder to a table. */
  connect(
    accountId: string,
    name: string,
    options?: { file?: string; table?: string; activate?: boolean },
  ): Promise<Connection>
  /** Runs a connection to its end. */
  run(accountId: string, connectionId: string): Promise<Transfer>
  close(): Promise<void>
}

/** @param env settings of the service in addition to the usual ones */
export async function startConsole(env: Record<string, string> = {}): Promise<ConsoleStage> {
  const database = await createTestDatabase()
  const targetDatabase = await createTestDatabase()
  const folder = await mkdtemp(join(tmpdir(), 'penstock-console-'))
  const port = Number(env.PENSTOCK_PORT ?? (await freePort()))
  const url = `http://127.0.0.1:${port}`
  const credentials = { clientId: 'console-tests', clientSecret: `canary-${generateMasterKey()}` }
  const settings = {
    PATH: process.env.PATH,
    NODE_COMPILE_CACHE: process.env.NODE_COMPILE_CACHE,
    DATABASE_URL: database.url,
    PENSTOCK_MASTER_KEY: generateMasterKey(),
    PENSTOCK_CLIENT_ID: credentials.clientId,
    PENSTOCK_CLIENT_SECRET: credentials.clientSecret,
    PENSTOCK_PORT: String(port),
    PENSTOCK_DATA_DIR: join(folder, '.penstock'),
    PENSTOCK_LOCAL_FOLDERS: folder,
    PENSTOCK_LOG_LEVEL: 'warn',
    ...env,
  }
  let said = ''
  const serve = async () => {
    const child = spawn(process.execPath, [join(root, 'packages/server/bin/penstock.js'), 'serve'], {
      env: settings,
      stdio: ['ignore', 'ignore', 'pipe'],
    })
    child.stderr.on('data', (text) => {
      said += text
    })
    await until('the service is ready', async () => {
      assert(child.exitCode === null && child.signalCode === null, `the service ended: ${said}`)
      return fetch(`${url}/readyz`).then(
        ({ ok }) => ok,
        () => false,
      )
    })
    return child
  }
  let child = await serve()
  const end = async (signal: NodeJS.Signals) => {
    if (child.exitCode !== null || child.signalCode !== null) return
    const ended = once(child, 'exit')
    child.kill(signal)
    await ended
  }
  const client = createClient({ baseUrl: url, ...credentials })
  const target = new pg.Pool({ connectionString: targetDatabase.url, max: 2 })
  target.on('error', () => {})
  const targetSecrets = postgresqlSecrets(targetDatabase.url)
  let link: Promise<string> | undefined
  let browser: Browser | undefined
  let session: Promise<string> | undefined
  /** Session of a client that the console stores. */
  const createSession = async (): Promise<string> => {
    const { reply } = await client.createToken({ body: credentials })
    return JSON.stringify({
      clientId: credentials.clientId,
      token: reply.accessToken,
      expiresMs: Date.now() + reply.expiry * 1000,
    })
  }
  const pages: OpenedPage[] = []
  /** The browser whose tabs are signed in. One tab stays open, so that its process, which knows the scripts, does too. */
  let tabs: Promise<{ context: BrowserContext; kept: Page }> | undefined
  const openTabs = async (of: Browser, kept: string) => {
    const context = await openContext(of, url, { localStorage: { 'penstock.session': kept } })
    const page = await context.newPage()
    await page.goto('/healthz')
    return { context, kept: page }
  }
  /** Leaves nothing of a test in the browser. */
  const clean = async () => {
    if (!tabs) return
    const { context, kept } = await tabs
    await context.clearCookies()
    await context.clearPermissions()
    await kept.evaluate(
      (stored) => {
        localStorage.clear()
        localStorage.setItem('penstock.session', stored)
      },
      (await session) ?? '',
    )
  }
  const closePages = async () => {
    const closed = await Promise.allSettled(pages.splice(0).map((page) => page.close()))
    await clean()
    for (const one of closed) if (one.status === 'rejected') throw one.reason
  }

  return {
    url,
    credentials,
    client,
    folder,
    target,
    targetSecrets,
    databaseUrl: database.url,
    firstLink: () => {
      link ??= ownerLink(database.url, url)
      return link
    },
    sql: (statement) => execute(database.url, statement),
    open: async (path, { look, signedIn = true, alone = !signedIn } = {}) => {
      browser ??= await launchBrowser()
      if (signedIn) session ??= createSession()
      const kept = signedIn ? ((await session) ?? '') : ''
      if (!alone) tabs ??= openTabs(browser, kept)
      const opened =
        tabs && !alone
          ? await openPageIn((await tabs).context, look)
          : await openPage(browser, url, {
              ...(look && { look }),
              localStorage: kept ? { 'penstock.session': kept } : {},
            })
      pages.push(opened)
      await opened.page.goto(path)
      if (signedIn)
        await opened.page.getByRole('navigation', { name: 'Main', includeHidden: true }).waitFor({ state: 'attached' })
      return opened.page
    },
    closePages,
    kill: () => end('SIGKILL'),
    start: async () => {
      child = await serve()
    },
    addAccount: async (name) => (await client.addAccount({ body: { name } })).reply,
    addSides: async (accountId) => {
      await client.addConnectors({ accountId, body: { connectorIds: [localFolder.id, postgresql.id] } })
      await configure(client, accountId, localFolder, { folder })
      await configure(client, accountId, postgresql, targetSecrets)
    },
    connect: async (accountId, name, { file = 'people.csv', table = 'people', activate = true } = {}) => {
      const { reply } = await client.createConnection({
        accountId,
        body: {
          name,
          srcConnectorId: localFolder.id,
          destConnectorId: postgresql.id,
          srcConnectionConfig: { files: file },
          destConnectionConfig: { table, writeMode: 'Upsert', keyColumns: 'id' },
        },
      })
      if (!activate) return reply
      return (await client.updateConnectionStatus({ accountId, id: reply.id, body: { action: 'activate' } })).reply
    },
    run: async (accountId, id) => {
      const { reply } = await client.startTransfer({ accountId, id, body: {} })
      return until('the transfer has ended', async () => {
        const { reply: transfer } = await client.getTransfer({ accountId, id, transferId: reply.id })
        return transfer.finishedTime === null ? undefined : transfer
      })
    },
    close: async () => {
      const closed = await Promise.allSettled([closePages()])
      await browser?.close()
      await end('SIGTERM')
      await target.end()
      await database.drop()
      await targetDatabase.drop()
      await rm(folder, { recursive: true, force: true })
      for (const one of closed) if (one.status === 'rejected') throw one.reason
    },
  }
}

/** Signs in with client credentials if the page asks for it, and waits for the requested screen. */
export async function signIn(page: Page, { clientId, clientSecret }: ConsoleStage['credentials']): Promise<void> {
  const other = page.getByRole('button', { name: 'Sign in with client credentials' })
  await page.getByRole('button', { name: 'Sign in', exact: true }).waitFor()
  if (await other.isVisible()) await other.click()
  await page.getByRole('textbox', { name: 'Client ID' }).fill(clientId)
  await page.locator('input[type=password]').fill(clientSecret)
  await page.getByRole('button', { name: 'Sign in', exact: true }).click()
  await page.getByRole('navigation', { name: 'Main', includeHidden: true }).waitFor({ state: 'attached' })
}

/** A file of people for a transfer, some without an e-mail address, and the table that accepts the others. */
export async function preparePeople(
  stage: ConsoleStage,
  rows: number,
  table = 'people',
  dirtyEvery = 10,
): Promise<void> {
  const lines = Array.from(
    { length: rows },
    (_, i) => `${i + 1},Person ${i + 1},${i % dirtyEvery === dirtyEvery - 1 ? '' : `p${i + 1}@example.com`}`,
  )
  await writeFile(join(stage.folder, `${table}.csv`), `id,name,email\n${lines.join('\n')}\n`)
  await stage.target.query(`create table ${table} (id integer primary key, name text, email text not null)`)
}

async function configure(
  client: Client,
  accountId: string,
  { id }: Connector,
  secretConfig: Record<string, string | number>,
) {
  await client.configureConnector({ accountId, id, body: { secretConfig } })
}

/** A table that seems locked by another session: a transfer into it retries until it is ended. */
export async function prepareLocked(stage: ConsoleStage): Promise<void> {
  await stage.target.query(`
    create table locked (id integer primary key, name text, email text not null);
    create function is_locked() returns trigger language plpgsql as
      $$ begin raise 'canceling statement due to lock timeout' using errcode = '55P03'; end $$;
    create trigger is_locked before insert on locked for each statement execute function is_locked()`)
}

const crowdSize = 400_000

/** Many people, and a table that accepts each batch slowly: a transfer that can be watched, and cancelled while it runs. */
export async function prepareCrowd(stage: ConsoleStage): Promise<void> {
  await preparePeople(stage, crowdSize, 'crowd', Number.POSITIVE_INFINITY)
  await stage.target.query(`
    create function take_time() returns trigger language plpgsql as $$ begin perform pg_sleep(2); return null; end $$;
    create trigger takes_time before insert on crowd for each statement execute function take_time()`)
}

/** Opens the list of values of a setting at its field. */
export async function openValues(scope: Page | Locator, label: string): Promise<Locator> {
  const page = 'page' in scope ? scope.page() : scope
  const list = page.getByRole('dialog', { name: `Values of ${label}`, exact: true })
  await scope.getByRole('combobox', { name: label, exact: true }).click()
  await list.waitFor()
  return list
}

/** Picks a value of a setting from the list of the platform, a folder first if it is in one. */
export async function pickValue(scope: Page | Locator, label: string, ...path: readonly string[]): Promise<void> {
  const list = await openValues(scope, label)
  for (const value of path) {
    await list
      .getByRole('option')
      .filter({ has: list.page().getByText(value, { exact: true }) })
      .click()
  }
  await list.waitFor({ state: 'detached' })
}

/** Searches for a value that may not be in the first results, and picks it. */
export async function findValue(scope: Page | Locator, label: string, value: string): Promise<void> {
  const list = await openValues(scope, label)
  await list.getByRole('combobox', { name: /^Search: / }).fill(value)
  await list
    .getByRole('option')
    .filter({ has: list.page().getByText(value, { exact: true }) })
    .click()
  await list.waitFor({ state: 'detached' })
}

/** Sets a setting to a value that the platform need not have. */
export async function enterValue(scope: Page | Locator, label: string, value: string): Promise<void> {
  const list = await openValues(scope, label)
  await list.getByRole('combobox', { name: /^Search: / }).fill(value)
  await list.getByRole('button', { name: `Use “${value}”` }).click()
  await list.waitFor({ state: 'detached' })
}

/** Opens the settings of a side that are folded. */
export const openAdvanced = (side: Locator): Promise<void> => side.getByRole('button', { name: /^Advanced/ }).click()

/** Waits until the step *Mapping* lists exactly these columns of the source as columns that are sent. */
export async function seeSentColumns(page: Page, names: readonly string[]): Promise<void> {
  const list = page.getByRole('list', { name: `${names.length} columns are sent`, exact: true })
  await list.waitFor()
  assert.deepEqual(await list.getByRole('listitem').locator('[title]').allTextContents(), names)
}
