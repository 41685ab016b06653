import assert from 'node:assert/strict'
import { after, afterEach, before, describe, test } from 'node:test'
import type { Page } from 'playwright-core'
import { accessibilityViolations, skip } from './harness/browser.ts'
import { type ConsoleStage, startConsole } from './harness/console.ts'
import { settingsFor, startRealProvider } from './harness/identity-provider.ts'
import { freePort } from './harness/process.ts'

describe('single sign-on in the console', { skip }, () => {
  let stage: ConsoleStage
  let home: string
  before(async () => {
    const port = await freePort()
    home = `http://127.0.0.1:${port}`
    stage = await startConsole({ PENSTOCK_PORT: String(port), PENSTOCK_PUBLIC_URL: home, PENSTOCK_EGRESS: 'any' })
  })
  afterEach(() => stage.closePages())
  after(() => stage?.close())

  test('a person signs in at the provider of their organization, and is in the console then', async (t) => {
    const email = 'grace@example.com'
    const provider = await startRealProvider(
      t,
      { grace: { email, email_verified: true, name: 'Grace' } },
      `${home}/sso/callback`,
    )
    await stage.client.inviteUser({ body: { email, role: 'viewer' } })
    await stage.client.setSingleSignOn({ body: settingsFor(provider, { newUsers: { role: 'viewer' } }) })
    const { reply: owner } = await stage.client.getMe()
    const page = await stage.open('/sign-in', { signedIn: false })
    await page.goto(`${home}/sign-in`)
    const withClient = page.getByRole('button', { name: 'Sign in with e-mail address and password' })
    if (await withClient.isVisible()) await withClient.click()
    await page.getByRole('button', { name: 'Sign in with single sign-on' }).click()
    await page.getByRole('textbox', { name: 'Organization ID' }).fill(owner.organizationId)
    await page.getByRole('button', { name: 'Continue' }).click()
    await page.locator('input[name="login"]').fill('grace')
    await page.locator('input[name="password"]').fill('any')
    await page.locator('button[type="submit"]').click()
    await page.locator('button[type="submit"]', { hasText: 'Continue' }).click()
    await page.getByRole('link', { name: 'Profile' }).waitFor()
    assert.equal(new URL(page.url()).origin, home)
    const text = await page.evaluate(async () => (await fetch('/es/v2/me')).text())
    const me: { email: string; method: string; role: string } = JSON.parse(text).response
    assert.deepEqual([me.email, me.method, me.role], [email, 'single sign-on', 'viewer'])
  })

  const password = 'a sentence of its own kind'
  const dialog = (page: Page) => page.getByRole('dialog')
  const accept = async (page: Page, link: string, name: string, email?: string) => {
    await page.goto(new URL(link, home).href)
    if (email !== undefined) await page.getByRole('textbox', { name: 'E-mail address' }).fill(email)
    await page.getByRole('textbox', { name: 'Your name' }).fill(name)
    await page.locator('input[autocomplete="new-password"]').fill(password)
    await page.getByRole('button', { name: 'Set the password and sign in' }).click()
    await page.getByRole('link', { name: 'Profile' }).waitFor()
  }
  const signInWithPassword = async (page: Page, email: string) => {
    await page.getByRole('textbox', { name: 'E-mail address' }).fill(email)
    await page.locator('input[autocomplete="current-password"]').fill(password)
    await page.getByRole('button', { name: 'Sign in', exact: true }).click()
  }

  test('a person who has a password confirms with it once', async (t) => {
    const email = 'mary@example.com'
    const provider = await startRealProvider(t, { mary: { email, email_verified: true } }, `${home}/sso/callback`)
    const { reply: invited } = await stage.client.inviteUser({ body: { email, role: 'viewer' } })
    await stage.client.setSingleSignOn({ body: settingsFor(provider) })
    const { signInUrl } = (await stage.client.getSingleSignOn()).reply
    await accept(await stage.open('/sign-in', { signedIn: false }), invited.link, 'Mary')
    const page = await stage.open('/sign-in', { signedIn: false })
    await page.goto(signInUrl)
    await page.locator('input[name="login"]').fill('mary')
    await page.locator('input[name="password"]').fill('any')
    await page.locator('button[type="submit"]').click()
    await page.locator('button[type="submit"]', { hasText: 'Continue' }).click()
    await page.getByRole('link', { name: 'Sign in and confirm' }).click()
    await page.getByRole('heading', { name: 'Confirm that it is you' }).waitFor()
    assert.deepEqual(await accessibilityViolations(page), [])
    await signInWithPassword(page, email)
    await page.getByRole('link', { name: 'Profile' }).waitFor()
    const me: { email: string; method: string } = JSON.parse(
      await page.evaluate(async () => (await fetch('/es/v2/me')).text()),
    ).response
    assert.deepEqual([me.email, me.method], [email, 'single sign-on'])
    await page.context().clearCookies({ name: 'penstock_session' })
    await page.goto(signInUrl)
    await page.getByRole('link', { name: 'Profile' }).waitFor()
  })

  test('an owner sets it up, requires it and removes it; passwords are refused in between', async (t) => {
    const provider = await startRealProvider(
      t,
      { ivy: { email: 'ivy@example.com', email_verified: true, name: 'Ivy' } },
      `${home}/sso/callback`,
    )
    const settings = settingsFor(provider)
    // Removes the provider of the other test.
    await stage.client.deleteSingleSignOn().catch(() => {})
    const page = await stage.open('/sign-in', { signedIn: false })
    await accept(page, await stage.firstLink(), 'Ada Lopez', 'ada@example.com')
    await page.getByRole('link', { name: 'Sign-in settings' }).click()
    const card = page.getByRole('region', { name: 'Single sign-on' })
    await card.getByText('Not set up').waitFor()
    await card.getByRole('button', { name: 'Set up single sign-on' }).click()
    const uri = await dialog(page).getByRole('textbox', { name: 'Redirect URI' }).inputValue()
    assert.equal(uri, `${home}/sso/callback`)

    // Errors of the provider are shown in the words of the service, and nothing is saved.
    await dialog(page).getByRole('textbox', { name: 'Issuer' }).fill(`${provider.issuer}/elsewhere`)
    await dialog(page).getByRole('textbox', { name: 'Client ID' }).fill(settings.clientId)
    await dialog(page)
      .locator('input[type="password"]')
      .fill(settings.clientSecret ?? '')
    await dialog(page).getByRole('button', { name: 'Save' }).click()
    const refused = dialog(page).getByRole('alert')
    await refused
      .getByText(/identity provider/i)
      .first()
      .waitFor()
    assert.deepEqual(await accessibilityViolations(page), [])
    await dialog(page).getByRole('textbox', { name: 'Issuer' }).fill(settings.issuer)
    await dialog(page).getByRole('textbox', { name: 'E-mail domains' }).fill('example.com, Example.ORG')
    await dialog(page).getByRole('radio', { name: 'Add them when they first sign in' }).check()
    await dialog(page).getByRole('radio', { name: 'Editor' }).check()
    assert.equal(await dialog(page).getByRole('radio', { name: 'Owner' }).count(), 0)
    await dialog(page).getByRole('button', { name: 'Save' }).click()
    await card.getByText('example.com, example.org').waitFor()
    await card.getByText('Added with the role Editor').waitFor()
    const { reply: saved } = await stage.client.getSingleSignOn()
    assert.deepEqual(saved.newUsers, { role: 'editor', accountIds: null })
    const link = await card.getByRole('textbox', { name: 'Sign-in link' }).inputValue()
    assert.equal(link, saved.signInUrl)
    assert.deepEqual(await accessibilityViolations(page), [])

    // A person opens the link, signs in at the provider, and is in the console with the role for new people.
    const ivy = await stage.open('/sign-in', { signedIn: false })
    await ivy.goto(link)
    await ivy.locator('input[name="login"]').fill('ivy')
    await ivy.locator('input[name="password"]').fill('any')
    await ivy.locator('button[type="submit"]').click()
    await ivy.locator('button[type="submit"]', { hasText: 'Continue' }).click()
    await ivy.getByRole('link', { name: 'Profile' }).waitFor()
    assert.equal(await ivy.getByRole('link', { name: 'Sign-in settings' }).count(), 0)

    // An admin sees the settings, and reads why they cannot change them.
    const { reply: invited } = await stage.client.inviteUser({ body: { email: 'kim@example.com', role: 'admin' } })
    const kim = await stage.open('/sign-in', { signedIn: false })
    await accept(kim, invited.link, 'Kim Ito')
    await kim.getByRole('link', { name: 'Sign-in settings' }).click()
    for (const name of ['Change', 'Remove']) {
      const control = kim.getByRole('button', { name: new RegExp(`^${name}`) })
      assert.equal(await control.getAttribute('aria-disabled'), 'true', name)
      const why = kim.locator(`[id="${await control.getAttribute('aria-describedby')}"]`)
      assert.match((await why.textContent()) ?? '', /^Admins cannot .+\.$/)
    }

    // The owner requires it, without entering the secret again.
    await card.getByRole('button', { name: 'Change' }).click()
    assert.equal(await dialog(page).getByRole('radio', { name: 'Editor' }).isChecked(), true)
    await dialog(page).getByRole('checkbox', { name: 'Require single sign-on' }).check()
    await dialog(page).getByText('Owners keep their passwords').waitFor()
    assert.deepEqual(await accessibilityViolations(page), [])
    await dialog(page).getByRole('button', { name: 'Save' }).click()
    await card.getByText('Only owners').waitFor()
    await kim.reload()
    await kim.waitForURL('**/sign-in**')
    await signInWithPassword(kim, 'kim@example.com')
    await kim.getByRole('alert').getByText('Your organization requires single sign-on').waitFor()
    await ivy.reload()
    await ivy.getByRole('link', { name: 'Profile' }).waitFor()
    const other = await stage.open('/sign-in', { signedIn: false })
    await signInWithPassword(other, 'ada@example.com')
    await other.getByRole('link', { name: 'Profile' }).waitFor()

    await card.getByRole('button', { name: 'Remove' }).click()
    await dialog(page).getByText('The client secret and the links to accounts at the provider are deleted').waitFor()
    assert.deepEqual(await accessibilityViolations(page), [])
    await dialog(page).getByRole('button', { name: 'Remove' }).click()
    await card.getByText('Not set up').waitFor()
    await signInWithPassword(kim, 'kim@example.com')
    await kim.getByRole('link', { name: 'Profile' }).waitFor()
  })
})
