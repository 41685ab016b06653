import assert from 'node:assert/strict'
import { after, afterEach, before, describe, test } from 'node:test'
import type { Page } from 'playwright-core'
import { accessibilityViolations, skip } from './harness/browser.ts'
import { type ConsoleStage, signIn, startConsole } from './harness/console.ts'
import { until } from './harness/until.ts'

describe('the session of the console', { skip }, () => {
  let stage: ConsoleStage
  before(async () => {
    stage = await startConsole()
    await stage.addAccount('Acme Outdoor')
  })
  afterEach(() => stage.closePages())
  after(() => stage?.close())

  const openBySigningIn = async (path: string) => {
    const page = await stage.open(path, { signedIn: false })
    await signIn(page, stage.credentials)
    return page
  }
  const stored = (page: Page) => page.evaluate<string>('JSON.stringify({ ...sessionStorage, ...localStorage })')

  test('begins with credentials, and leads to the page that was asked for', async () => {
    const page = await stage.open('/accounts?q=nobody', { signedIn: false })
    await page.waitForURL('**/sign-in?to=*')
    await page.getByRole('button', { name: 'Sign in with client credentials' }).click()
    await page.getByRole('textbox', { name: 'Client ID' }).fill(stage.credentials.clientId)
    await page.locator('input[type=password]').fill('wrong')
    await page.getByRole('button', { name: 'Sign in', exact: true }).click()
    await page.getByRole('alert').getByText('Request').waitFor()
    assert.deepEqual(await accessibilityViolations(page), [])
    await signIn(page, stage.credentials)
    await page.waitForURL('**/accounts?q=nobody')
    await page.getByText('No matching sub-accounts').waitFor()
  })

  test('leads to no address elsewhere', async () => {
    for (const to of ['//elsewhere.example/', 'https://elsewhere.example/', '/\\elsewhere.example']) {
      const page = await openBySigningIn(`/sign-in?to=${encodeURIComponent(to)}`)
      assert.equal(new URL(page.url()).origin, stage.url)
    }
  })

  test('keeps its secret in memory alone', async () => {
    const page = await openBySigningIn('/accounts')
    await page.getByText('Acme Outdoor').waitFor()
    assert(!(await stored(page)).includes(stage.credentials.clientSecret))
    assert(!(await page.content()).includes(stage.credentials.clientSecret))
    await page.getByRole('button', { name: 'As curl' }).click()
    await page.getByText('/es/v2/oauth/client-token').first().waitFor()
    assert(!(await page.content()).includes(stage.credentials.clientSecret))
  })

  test('outlives a reload, and ends with signing out', async () => {
    const page = await openBySigningIn('/accounts')
    await page.reload()
    await page.getByText('Acme Outdoor').waitFor()
    await page.getByRole('button', { name: 'Sign out' }).click()
    await page.waitForURL('**/sign-in**')
    await page.goto('/accounts')
    await page.waitForURL('**/sign-in**')
    assert(!(await stored(page)).includes('pst_'))
  })

  test('is shared by the tabs of a browser, and ends in all of them', async () => {
    const page = await openBySigningIn('/accounts')
    await page.getByText('Acme Outdoor').waitFor()
    const another = await page.context().newPage()
    await another.goto('/accounts?q=Acme')
    await another.getByText('Acme Outdoor').waitFor()
    const later = await page.context().newPage()
    await another.getByRole('button', { name: 'Sign out' }).click()
    await another.waitForURL('**/sign-in**')
    await page.waitForURL('**/sign-in**')
    assert(!(await stored(page)).includes('pst_'))
    await later.goto('/accounts')
    await later.waitForURL('**/sign-in**')
    // Signing in in one tab continues the others, too.
    await signIn(later, stage.credentials)
    await later.getByText('Acme Outdoor').waitFor()
    await page.getByText('Acme Outdoor').waitFor()
    assert(!(await stored(later)).includes(stage.credentials.clientSecret))
    // The token that the first tab would use for the renewal is deleted, although the tab is signed in again.
    await forgetTokens(stage)
    await page.reload()
    await page.waitForURL('**/sign-in**')
  })

  test('renews a token that is refused, without a word', async () => {
    const page = await openBySigningIn('/accounts')
    await page.getByText('Acme Outdoor').waitFor()
    await forgetTokens(stage)
    await page.getByRole('navigation', { name: 'Main' }).getByRole('link', { name: 'Connections' }).click()
    await page.getByRole('heading', { level: 1, name: 'Connections' }).waitFor()
    await page.waitForLoadState('networkidle')
    assert.match(page.url(), /\/connections$/)
  })

  test('asks to sign in again where the token cannot be renewed, and returns to the same page', async () => {
    const page = await openBySigningIn('/accounts')
    // After a reload the page does not have the secret any more.
    await page.reload()
    await page.getByText('Acme Outdoor').waitFor()
    await forgetTokens(stage)
    await page.goto('/accounts?q=Acme')
    await page.getByText('Your session has ended').waitFor()
    await signIn(page, stage.credentials)
    await page.waitForURL('**/accounts?q=Acme')
    await page.getByText('Acme Outdoor').waitFor()
  })

  test('says what to do while the service is away, and continues once it is back', async () => {
    const page = await openBySigningIn('/accounts')
    await page.getByText('Acme Outdoor').waitFor()
    await stage.kill()
    await page.getByRole('searchbox').fill('Outdoor')
    await page.getByRole('alert').getByText('The service cannot be reached').waitFor()
    await stage.start()
    await page.getByRole('button', { name: 'Try again' }).click()
    await page.getByText('Acme Outdoor').waitFor()
    await until('the alert is gone', async () => (await page.getByRole('alert').count()) === 0)
  })
})

describe('the frame of the console', { skip }, () => {
  let stage: ConsoleStage
  before(async () => {
    stage = await startConsole()
    await stage.addAccount('Acme Outdoor')
    await stage.addAccount('Northwind Retail')
  })
  afterEach(() => stage.closePages())
  after(() => stage?.close())

  test('says so where there is no such page', async () => {
    const page = await stage.open('/accounts/0123456789abcdef/nothing')
    await page.getByText('Page not found').waitFor()
    await page.getByRole('link', { name: 'Go to the overview' }).click()
    await page.waitForURL(`${stage.url}/`)
  })

  test('switches the sub-account and stays on the same kind of page', async () => {
    const page = await stage.open('/accounts')
    const pick = async (name: string) => {
      await page.getByRole('button', { name: /^Switch sub-account/ }).click()
      await page.getByRole('textbox', { name: 'Search sub-accounts' }).fill(name)
      // The list is narrowed: nothing moves under the pointer any more.
      await page.getByRole('option', { name: 'All sub-accounts' }).waitFor({ state: 'detached' })
      await page.getByRole('option', { name }).click()
    }
    await pick('Acme')
    await page.waitForURL(/\/accounts\/\w{16}$/)
    const first = page.url()
    await page.getByRole('navigation', { name: 'Main' }).getByRole('link', { name: 'Connectors' }).click()
    await page.waitForURL(/\/connectors$/)
    await pick('Northwind')
    await page.waitForURL((url) => url.pathname.endsWith('/connectors') && !url.href.startsWith(first))
  })

  test('switches the sub-account while the page is still on its way, to the kind of page that was asked for', async () => {
    const page = await stage.open('/accounts', { alone: true })
    await page.getByText('Acme Outdoor').waitFor()
    const arrived = Promise.withResolvers<void>()
    await page.route('**/assets/connectors-*.js', async (route) => {
      await arrived.promise
      await route.continue()
    })
    await page.getByRole('link', { name: 'Acme Outdoor' }).click()
    await page.waitForURL(/\/accounts\/\w{16}$/)
    await page.getByRole('navigation', { name: 'Main' }).getByRole('link', { name: 'Connectors' }).click()
    await page.getByRole('button', { name: /^Switch sub-account/ }).click()
    await page.getByRole('option', { name: 'Northwind' }).click()
    arrived.resolve()
    await page.getByRole('button', { name: 'Switch sub-account: Northwind Retail' }).waitFor()
    assert.match(new URL(page.url()).pathname, /\/connectors$/)
  })

  test('shows the calls of the page as curl lines that work', async () => {
    const page = await stage.open('/accounts')
    await page.getByRole('link', { name: 'Acme Outdoor', exact: true }).waitFor()
    await page.getByRole('button', { name: 'As curl' }).click()
    const line = await page.locator('pre', { hasText: '/es/v2/accounts/figures?' }).first().innerText()
    const address = /'(http[^']+)'/.exec(line)?.[1] ?? ''
    const { accessToken } = (await stage.client.createToken({ body: stage.credentials })).reply
    const answer = await fetch(address, { headers: { authorization: `Bearer ${accessToken}` } })
    assert.equal(answer.status, 200)
    assert.match(await answer.text(), /Acme Outdoor/)
    assert.deepEqual(await accessibilityViolations(page), [])
  })

  test('changes its theme, and stores it', async () => {
    const page = await stage.open('/accounts')
    const theme = () => page.evaluate<string>('document.documentElement.dataset.mantineColorScheme')
    await page.getByRole('button', { name: 'Dark theme' }).click()
    assert.equal(await theme(), 'dark')
    await page.reload()
    await page.getByRole('link', { name: 'Acme Outdoor', exact: true }).waitFor()
    assert.equal(await theme(), 'dark')
  })

  test('opens its navigation on a small screen', async () => {
    const page = await stage.open('/accounts', { look: { width: 360, height: 740, theme: 'light' } })
    await page.getByRole('button', { name: 'Open the navigation' }).click()
    await page.getByRole('navigation', { name: 'Main' }).getByRole('link', { name: 'Reports' }).click()
    await page.waitForURL('**/reports')
    await page.getByRole('button', { name: 'Open the navigation' }).waitFor()
  })

  test('leads past itself with the first key', async () => {
    const page = await stage.open('/accounts')
    await page.getByRole('link', { name: 'Acme Outdoor', exact: true }).waitFor()
    await page.reload()
    await page.getByRole('link', { name: 'Acme Outdoor', exact: true }).waitFor()
    await page.keyboard.press('Tab')
    assert.equal(await page.evaluate<string>('document.activeElement.textContent'), 'Skip to the content')
    await page.keyboard.press('Enter')
    assert.equal(await page.evaluate<string>('document.activeElement.id'), 'content')
  })
})

/** Makes the service forget all tokens, as after they have expired. The caches of the process are emptied too. */
async function forgetTokens(stage: ConsoleStage): Promise<void> {
  await stage.sql('delete from tokens')
  await stage.kill()
  await stage.start()
}
