import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, afterEach, before, describe, test } from 'node:test'
import { loadConnector } from '@penstock/connectors/load'
import type { Browser, Page } from 'playwright-core'
import { createLogger } from '../packages/server/src/log.ts'
import { startWorker, type Worker } from '../packages/server/src/worker/worker.ts'
import { accessibilityViolations, launchBrowser, openPage, type PageOptions, skip } from './harness/browser.ts'
import { localFolder, pickValue, signIn } from './harness/console.ts'
import { type Caller, callerOf } from './harness/fixtures.ts'
import { createInProcessRunners } from './harness/in-process-runners.ts'
import { registerApp, removeApp } from './harness/oauth-apps.ts'
import { freePort } from './harness/process.ts'
import { type RedditPlatform, reddit, startRedditPlatform } from './harness/reddit-platform.ts'
import { type Organization, startTestService, type TestService } from './harness/service.ts'
import { until } from './harness/until.ts'

/**
 * Connectors that are authorized with a click, in the console: from the first click to the first row, and after the grant is
 * revoked. A person consents on a page of the test. A test authorization server grants, and the test server of Reddit accepts
 * only what that server has granted.
 */

const phone = { width: 360, height: 740, theme: 'dark' } as const
const sha = (text: string) => createHash('sha256').update(text).digest('hex')
const people = ['jane@example.com', 'joe@example.com', 'kim@example.com']

describe('connecting with a click, in the console', { skip }, () => {
  let platform: RedditPlatform
  let folder: string
  let url: string
  let service: TestService
  let worker: Worker
  let organization: Organization
  let caller: Caller
  let browser: Browser
  const pages: { close(): Promise<void> }[] = []

  before(async () => {
    platform = await startRedditPlatform()
    folder = await mkdtemp(join(tmpdir(), 'penstock-authorization-'))
    await writeFile(
      join(folder, 'people.csv'),
      `segment_name,action,email\n${people.map((email) => `Loyal,add,${email}\n`).join('')}`,
    )
    const port = await freePort()
    url = `http://127.0.0.1:${port}`
    const runners = createInProcessRunners({ localFolders: [folder], loadConnector }, platform.routes)
    service = await startTestService(
      { PENSTOCK_PUBLIC_URL: url, PENSTOCK_LOCAL_FOLDERS: folder, PENSTOCK_RETRY_SECONDS: '0' },
      {},
      runners,
    )
    await service.service.app.listen({ host: '127.0.0.1', port })
    const { config, databaseUrl, logLines } = service
    assert(config.masterKey)
    const log = createLogger('warn', { write: (line) => void logLines.push(line) })
    worker = await startWorker(config, { databaseUrl, masterKey: config.masterKey, runners }, log)
    organization = await service.addOrganization()
    caller = callerOf(service, organization)
    browser = await launchBrowser()
  })
  afterEach(async () => {
    const closed = await Promise.allSettled(pages.splice(0).map((page) => page.close()))
    for (const one of closed) if (one.status === 'rejected') throw one.reason
  })
  after(async () => {
    await browser?.close()
    await worker?.stop()
    await service?.close()
    await platform?.close()
    if (folder) await rm(folder, { recursive: true })
  })

  /** Opens a page that is signed in, in a browser for which the consent page of the test is at the platform's address. */
  const open = async (path: string, options: PageOptions = {}): Promise<Page> => {
    const opened = await openPage(browser, url, options)
    pages.push(opened)
    const { page } = opened
    await platform.lead(page.context())
    await page.goto(path)
    await signIn(page, organization)
    return page
  }
  /**
   * Presses a button that opens the platform, and answers its page. Returns the page that the platform sends the tab back to.
   */
  const answer = async (page: Page, button: string, consent: 'Allow' | 'Decline'): Promise<Page> => {
    const tab = page.context().waitForEvent('page')
    await page.getByRole('button', { name: button }).filter({ visible: true }).first().click()
    const opened = await tab
    await opened.getByRole('heading', { name: 'Acme asks for access' }).waitFor()
    assert.equal(await opened.evaluate('window.opener'), null)
    await opened.getByRole('link', { name: consent }).click()
    await opened.waitForURL(`${url}/oauth/callback?**`)
    return opened
  }
  const connect = async (page: Page, button: string): Promise<void> => {
    const tab = await answer(page, button, 'Allow')
    await tab.getByRole('heading', { name: 'Reddit Audiences is authorized' }).waitFor()
    await tab.close()
  }
  const dialog = (page: Page) => page.getByRole('dialog', { name: `Configure ${reddit.name}` })
  const addReddit = async (name: string) => {
    const { id } = await caller.addAccount(name)
    await caller.addConnectors(id, reddit)
    return { accountId: id, path: `/accounts/${id}/connectors?configure=${reddit.id}` }
  }
  const authorized = async (accountId: string) =>
    (await caller.expect(caller.call('getConnectorAuthorization', { accountId, id: reddit.id }))).authorized

  test('without an app of the operator, says who can change that, and asks for credentials', async () => {
    const { path } = await addReddit('No app')
    const page = await open(path, { look: phone })
    await dialog(page).getByText('ask the operator of this deployment to register an app at Reddit').waitFor()
    await dialog(page).getByRole('textbox', { name: 'Client ID' }).waitFor()
    assert.equal(await page.getByRole('button', { name: /Connect\b|instead/ }).count(), 0)
    await look(page, 'no-app')
  })

  test('shows what a person declined, and an app that is removed meanwhile', async () => {
    await registerApp(service, reddit)
    const { accountId, path } = await addReddit('Declined')
    const page = await open(path, { look: phone })
    await dialog(page).getByText('Grant access at Reddit in a new tab').waitFor()
    await look(page, 'before')
    assert.equal(await page.getByRole('textbox', { name: 'Client ID' }).count(), 0)
    const tab = await answer(page, 'Connect to Reddit', 'Decline')
    await tab.getByRole('heading', { name: 'Access was not granted' }).waitFor()
    await tab.close()
    await dialog(page).getByText('You declined at Reddit').waitFor()
    await look(page, 'declined')
    assert.equal(await authorized(accountId), false)

    // The button would disappear with the next look at the authorization, maybe before the click.
    const clicked = page.waitForRequest((request) => request.method() === 'POST')
    await page.route(/\/authorization\?/, async (route) => {
      if (route.request().method() === 'GET') await clicked
      await route.continue()
    })
    await removeApp(service, reddit)
    await page.getByRole('button', { name: 'Connect to Reddit' }).click()
    await dialog(page).getByText('ask the operator of this deployment to register an app at Reddit').waitFor()
    await registerApp(service, reddit)
    await until('the tab of the link that there is not was closed', () => page.context().pages().length === 1)
    await page.reload()
    await dialog(page).getByRole('button', { name: 'Enter credentials instead' }).click()
    await dialog(page).getByRole('textbox', { name: 'Client ID' }).fill('own-client')
    await dialog(page).getByRole('button', { name: 'Save', exact: true }).click()
    await dialog(page).getByText('Client secret is required.').waitFor()
  })

  test('where the browser blocks the tab, a link leads to the platform', async () => {
    await registerApp(service, reddit)
    const { accountId, path } = await addReddit('Blocked')
    const page = await open(path)
    await dialog(page).getByRole('button', { name: 'Connect to Reddit' }).waitFor()
    await page.evaluate('window.open = () => null')
    await page.getByRole('button', { name: 'Connect to Reddit' }).click()
    const tab = page.context().waitForEvent('page')
    await page.getByRole('link', { name: 'Open Reddit' }).click()
    await (await tab).getByRole('link', { name: 'Allow' }).click()
    await dialog(page).getByText('A user of Reddit granted access.').waitFor()
    assert.equal(await authorized(accountId), true)
  })

  test('leads from the first click to the first row, and back after the grant was revoked', async () => {
    await registerApp(service, reddit)
    const { id: accountId } = await caller.addAccount('First click')
    await caller.addConnectors(accountId, localFolder)
    await caller.expect(
      caller.call('configureConnector', { accountId, id: localFolder.id, body: { secretConfig: { folder } } }),
    )
    const page = await open(`/accounts/${accountId}/connections/new`)
    await page.getByRole('button', { name: /^Local folder/ }).click()
    await page.getByText('destination for the data of Local folder').waitFor()
    await page.getByRole('button', { name: /^Reddit Audiences/ }).click()
    const destination = page.getByRole('region', { name: `Destination: ${reddit.name}` })
    await pickValue(page, 'Files', 'people.csv')
    await destination.getByRole('textbox', { name: 'Ad account ID' }).fill('a2_loyal')
    await look(page, 'wizard')
    await page.getByRole('button', { name: 'Enter credentials instead' }).click()
    await dialog(page).getByRole('textbox', { name: 'Client ID' }).waitFor()
    await dialog(page).getByRole('button', { name: 'Cancel' }).click()
    await dialog(page).waitFor({ state: 'detached' })
    await connect(page, 'Connect to Reddit')
    await destination.getByText('Not checked', { exact: true }).waitFor()
    // Values that were typed meanwhile are still there, in a field that lists them now.
    const advertiser = destination.getByRole('combobox', { name: 'Ad account ID' })
    assert.equal(await advertiser.textContent(), 'a2_loyal')
    await page.getByRole('button', { name: 'Create the connection' }).click()
    await page.getByRole('radio', { name: 'A new audience' }).click()
    await page.getByText('3 would be sent').waitFor()
    await page.getByRole('button', { name: /^(Save and continue|Continue to review)$/ }).click()
    await page.getByRole('button', { name: 'Activate and run' }).click()
    await page.waitForURL(/\/connections\/[^/?]+$/)
    const members = () => [...(platform.api.audiences[0]?.members ?? [])].sort()
    await until('the people are there', () => members().length === people.length)
    assert.deepEqual(members(), people.map((email) => `EMAIL_SHA256:${sha(email)}`).sort())

    const connection = page.url()
    const revoke = async () => {
      platform.consents.revoke()
      await page.goto(connection)
      await page.getByRole('button', { name: 'Run now' }).click()
      await page.getByRole('alert').getByRole('button', { name: 'Reconnect' }).waitFor()
    }
    const isActive = async () => {
      const connections = await caller.expect(caller.call('listConnections', { accountId }))
      return connections.every(({ status }) => status === 'active')
    }
    const activate = async () => {
      await page
        .getByRole('button', { name: /^Activate / })
        .filter({ visible: true })
        .first()
        .click()
      await until('the connection is active', isActive)
    }
    await revoke()
    await look(page, 'broken')
    await connect(page, `Reconnect ${reddit.name}`)
    await activate()
    await page.goto(connection)
    await page.getByRole('button', { name: 'Run now' }).click()
    await page.getByText('Succeeded').first().waitFor()

    await revoke()
    await page.goto(`/accounts/${accountId}`)
    const attention = page.getByRole('region', { name: 'Needs attention' })
    await attention.getByRole('button', { name: `Reconnect ${reddit.name}` }).waitFor()
    await look(page, 'attention')
    await page.goto(`/accounts/${accountId}/connectors`)
    await page.getByRole('row').getByRole('button', { name: 'Reconnect' }).filter({ visible: true }).waitFor()
    await look(page, 'table')
    await connect(page, `Reconnect ${reddit.name}`)
    await activate()
    await page.getByRole('button', { name: reddit.name, exact: true }).click()
    await dialog(page).getByText('A user of Reddit granted access.').waitFor()
    await dialog(page).getByRole('button', { name: 'Reconnect' }).waitFor()
    await look(page, 'connected')
    await connect(page, 'Reconnect')
    await page.getByText('Reddit Audiences is connected').waitFor()
    assert.equal(await authorized(accountId), true)
  })
})

/** Looks at a screen as people do: nothing is wider than the window, and axe-core finds nothing. */
async function look(page: Page, name: string): Promise<void> {
  // An element under the mouse can show more.
  await page.mouse.move(0, 0)
  await page.getByRole('tooltip').waitFor({ state: 'detached' })
  const album = process.env.PENSTOCK_PICTURES
  if (album) await page.screenshot({ path: join(album, `${name}.png`) })
  const wider = await page.evaluate<number>(
    'document.documentElement.scrollWidth - document.documentElement.clientWidth',
  )
  assert.equal(wider, 0, `${name} is wider than the window`)
  assert.deepEqual(await accessibilityViolations(page), [], name)
}
