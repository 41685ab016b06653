import assert from 'node:assert/strict'
import { after, afterEach, before, describe, test } from 'node:test'
import { skip } from './harness/browser.ts'
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
})
